/** `/sign-in?next=…`: with a Ferryhook account or an operator's token, and a second factor for both. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { hasCode, messageOf } from '../../api/errors.ts'
import {
  type FirstStep,
  pendingSignIn,
  type SecondFactorMethod,
  signInOperator,
  signInUser,
} from '../../api/sign-in.ts'
import { announceSignIn } from '../../api/sign-out.ts'
import { Problem, TextField } from '../../parts/field.tsx'
import { useResource } from '../../parts/resource.ts'
import { SecondFactorStep } from '../../parts/second-factor-step.tsx'
import { navigate, param, safeNext, setQuery, takeFragment } from '../../router.ts'
import { Gate, GateForm, loadOptions, Providers, type SignInOptions } from './gate.tsx'

type Side = 'user' | 'operator'

/** Errors of a sign-in through a provider, which come back as codes. */
const PROVIDER_PROBLEMS: Record<string, string> = {
  'ferryhook.email_taken':
    'An account with this e-mail address exists. Sign in with its password, and link the identity in your account.',
  'ferryhook.email_unverified':
    'The provider has no verified e-mail address for you. Verify the address there first.',
  'ferryhook.identity_taken': 'This identity belongs to another account. Sign in to that account.',
  'ferryhook.invalid_invite': 'The invite is invalid, expired or used. Ask for a new one.',
  'ferryhook.invite_required': 'An account needs an invite. Ask whoever runs this server for one.',
  'ferryhook.signup_closed': 'This server takes no new accounts. Ask whoever runs it for one.',
  'ferryhook.session_ended': 'Your session ended at the provider. Sign in and try again.',
  'ferryhook.provider_unavailable': 'The provider could not be reached. Try again later.',
}

export default function SignIn() {
  const side: Side = param('as') === 'operator' ? 'operator' : 'user'
  const second = useSignal<{ side: Side; methods: readonly SecondFactorMethod[] } | undefined>(
    undefined,
  )
  const notice = useSignal<string | undefined>(undefined)
  const options = useResource(loadOptions)
  const hasAccounts = !hasCode(options.error.value, 'http.404', 'request.not_found')
  const next = safeNext(param('next'))
  const done = (of: Side) => {
    announceSignIn(of)
    navigate(next, { replace: true, force: true })
  }

  useLayoutEffect(() => {
    const fragment = takeFragment()
    const code = fragment.get('error')
    if (code !== null)
      notice.value =
        PROVIDER_PROBLEMS[code] ?? 'The provider did not confirm the sign-in. Try again.'
    if (!fragment.has('second-factor')) return
    const resume = async () => {
      try {
        second.value = { side: 'user', methods: await pendingSignIn() }
      } catch (error) {
        notice.value = messageOf(error)
      }
    }
    void resume()
  }, [])

  const after = (of: Side) => (step: FirstStep) => {
    notice.value = undefined
    if (step) second.value = { side: of, methods: step }
    else done(of)
  }
  const foot = side === 'user' && hasAccounts ? footOf(options.data.value) : undefined
  const waiting = second.value
  if (waiting)
    return (
      <Gate
        name="Sign in"
        title="One more step."
        text="Your account is protected by a second factor."
        foot={
          <button class="link" type="button" onClick={() => (second.value = undefined)}>
            Back to the first step
          </button>
        }
      >
        <SecondFactorStep
          side={waiting.side}
          methods={waiting.methods}
          onDone={() => done(waiting.side)}
          onExpired={(message) => {
            second.value = undefined
            notice.value = message
          }}
        />
      </Gate>
    )
  return (
    <Gate
      name="Sign in"
      title="Sign in to the console."
      text="Webhooks, sites, keys and Slack checks of this server, in one place."
      foot={foot}
    >
      {hasAccounts && <Sides side={side} />}
      {notice.value !== undefined && (
        <div class="gate-notice">
          <Problem>{notice.value}</Problem>
        </div>
      )}
      {side === 'user' && hasAccounts ? (
        <UserForm key="user" options={options.data.value} next={next} onDone={after('user')} />
      ) : (
        <OperatorForm key="operator" onDone={after('operator')} />
      )}
    </Gate>
  )
}

function footOf(options: SignInOptions | undefined) {
  if (options?.signup === 'open')
    return (
      <>
        No account yet? <a href="/console/sign-up">Create one</a>
      </>
    )
  if (options?.signup === 'closed') return 'This server takes no new accounts.'
  return 'This server takes accounts by invite. Ask whoever runs it for one.'
}

const SIDES: readonly { side: Side; label: string }[] = [
  { side: 'user', label: 'Ferryhook account' },
  { side: 'operator', label: 'Operator' },
]

/** Tabs: arrow keys move between them. */
function Sides({ side }: { side: Side }) {
  const choose = (to: Side) =>
    setQuery({ as: to === 'operator' ? 'operator' : undefined }, { replace: true })
  return (
    <div class="tabs" role="tablist" aria-label="Who you are">
      {SIDES.map((each) => (
        <button
          class="tab"
          type="button"
          role="tab"
          key={each.side}
          aria-selected={each.side === side}
          tabIndex={each.side === side ? 0 : -1}
          onClick={() => choose(each.side)}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
            choose(side === 'user' ? 'operator' : 'user')
            const { currentTarget } = event
            const other = currentTarget.nextElementSibling ?? currentTarget.previousElementSibling
            if (other instanceof HTMLElement) other.focus()
          }}
        >
          {each.label}
        </button>
      ))}
    </div>
  )
}

function UserForm(props: {
  options: SignInOptions | undefined
  next: string
  onDone: (step: FirstStep) => void
}) {
  const email = useSignal('')
  const password = useSignal('')
  const problem = useSignal<string | undefined>(undefined)
  return (
    <GateForm
      label="Sign in with a Ferryhook account"
      submit="Sign in"
      onSubmit={async () => {
        problem.value = undefined
        props.onDone(await signInUser(email.value, password.value))
      }}
      onProblem={(error) => {
        if (!hasCode(error, 'ferryhook.wrong_credentials')) return false
        problem.value = 'E-mail or password is wrong'
        return true
      }}
      after={<Providers options={props.options} next={props.next} />}
    >
      <TextField
        class="input gate-input"
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        autofocus
        required
        value={email.value}
        onInput={(value) => (email.value = value)}
      />
      <TextField
        class="input gate-input"
        label="Password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        aside={
          <a class="push small" href="/console/forgotten">
            Forgotten?
          </a>
        }
        value={password.value}
        onInput={(value) => (password.value = value)}
        problem={problem.value}
      />
    </GateForm>
  )
}

function OperatorForm(props: { onDone: (step: FirstStep) => void }) {
  const token = useSignal('')
  const problem = useSignal<string | undefined>(undefined)
  return (
    <GateForm
      label="Sign in as an operator"
      submit="Sign in"
      onSubmit={async () => {
        problem.value = undefined
        props.onDone(await signInOperator(token.value.trim()))
      }}
      onProblem={(error) => {
        if (!hasCode(error, 'operator.invalid_token', 'operator.unauthorized')) return false
        problem.value = 'This is not a valid token of an operator'
        return true
      }}
    >
      <TextField
        class="input gate-input mono"
        label="Token"
        name="operator-token"
        type="password"
        autocomplete="current-password"
        autofocus
        required
        spellcheck={false}
        hint="It is exchanged for a session of 12 hours and not stored."
        value={token.value}
        onInput={(value) => (token.value = value)}
        problem={problem.value}
      />
    </GateForm>
  )
}
