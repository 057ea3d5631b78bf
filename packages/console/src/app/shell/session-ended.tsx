/** Asks to sign in again over the open page: what was typed stays, and waiting requests continue. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hasCode, messageOf } from '../api/errors.ts'
import { loadOperatorSession, operator } from '../api/operator-session.ts'
import { resumeSession } from '../api/request.ts'
import { type SecondFactorMethod, signInOperator, signInUser } from '../api/sign-in.ts'
import { announceSignIn, onSignIn } from '../api/sign-out.ts'
import { renewUserToken, user } from '../api/user-session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { SecondFactorStep } from '../parts/second-factor-step.tsx'
import { path, query, withQuery } from '../router.ts'

type Side = 'user' | 'operator'

export function SessionEnded({ side }: { side: Side }) {
  const typed = useSignal('')
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const methods = useSignal<readonly SecondFactorMethod[] | undefined>(undefined)
  const before = useSignal(side === 'user' ? user.value?.id : operator.value?.name)

  const done = () => {
    // Somebody else signed in: what is open here is not theirs.
    const now = side === 'user' ? user.value?.id : operator.value?.name
    if (before.value !== undefined && now !== before.value) {
      location.assign('/console/')
      return
    }
    announceSignIn(side)
    resumeSession()
  }
  // Another tab may have signed in, also through a provider.
  useEffect(() => onSignIn((signedIn) => void (signedIn === side && adopt(side, done))), [])

  const signIn = async () => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      methods.value =
        side === 'user'
          ? await signInUser(user.value?.email ?? '', typed.value)
          : await signInOperator(typed.value.trim())
      if (!methods.value) done()
    } catch (error) {
      problem.value = hasCode(error, 'ferryhook.wrong_credentials')
        ? 'The password is wrong'
        : messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  if (methods.value)
    return (
      <Dialog key="second" title="One more step" onClose={() => {}} isModalOnly hasForm>
        <SecondFactorStep
          side={side}
          methods={methods.value}
          onDone={done}
          onExpired={(message) => {
            methods.value = undefined
            problem.value = message
          }}
        />
      </Dialog>
    )
  const needsPage = side === 'user' && user.value?.hasPassword === false
  return (
    <Dialog
      key="first"
      title="Sign in again to continue"
      onClose={() => {}}
      onSubmit={() => (needsPage ? undefined : void signIn())}
      isModalOnly
      foot={
        <>
          <button class="button button-quiet" type="button" onClick={leave}>
            <span>{side === 'user' ? 'Use another account' : 'Go to the sign-in page'}</span>
          </button>
          {needsPage ? (
            <a class="button button-primary" href={signInAddress(side)} target="_blank">
              <span>Sign in in a new tab</span>
            </a>
          ) : (
            <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
              <span>Sign in</span>
            </button>
          )}
        </>
      }
    >
      <p>Your session ended. What you typed on this page is still here.</p>
      {needsPage ? (
        <p>
          Your account has no password: sign in through your provider, then come back to this tab.
        </p>
      ) : (
        <>
          {side === 'user' && (
            <input
              class="unseen"
              type="email"
              name="email"
              autocomplete="username"
              readOnly
              tabIndex={-1}
              aria-label="E-mail"
              value={user.value?.email ?? ''}
            />
          )}
          <TextField
            label={
              side === 'user'
                ? `Password for ${user.value?.email ?? 'your account'}`
                : `Token of ${operator.value?.name ?? 'the operator'}`
            }
            name="password"
            type="password"
            autocomplete="current-password"
            autofocus
            value={typed.value}
            onInput={(value) => (typed.value = value)}
            problem={problem.value}
          />
        </>
      )}
    </Dialog>
  )
}

async function adopt(side: Side, done: () => void): Promise<void> {
  if (side === 'user') {
    if (await renewUserToken(undefined)) done()
    return
  }
  await loadOperatorSession()
  if (operator.value) done()
}

function signInAddress(side: Side): string {
  const next = new URLSearchParams({
    next: withQuery(path.value, query.value),
    ...(side === 'operator' && { as: 'operator' }),
  })
  return `/console/sign-in?${next.toString()}`
}

function leave(): void {
  location.assign(signInAddress('user'))
}
