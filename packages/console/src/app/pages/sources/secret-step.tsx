/** Step 2: the secret that the provider signs with. Creates the source. */
import { useSignal } from '@preact/signals'
import { type Source, V1 } from '../../api/ferryhook.ts'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { copyText } from '../../parts/copy.tsx'
import { Field, fieldProblem, Problem } from '../../parts/field.tsx'
import { newSecret, type Provider } from './providers.ts'

export function SecretStep(props: {
  provider: Provider
  name: string
  onCreated: (source: Source) => void
}) {
  const { provider, name, onCreated } = props
  const secret = useSignal('')
  const isShown = useSignal(false)
  const isVerified = useSignal(true)
  const isBusy = useSignal(false)
  const error = useSignal<unknown>(undefined)

  const create = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      const json = {
        name: name.trim() || provider.name,
        provider: provider.id,
        ...(isVerified.value
          ? { signingSecret: secret.value }
          : provider.id !== 'custom' && { signingAlgorithm: 'none' }),
      }
      onCreated(await request<Source>('POST', `${V1}/sources`, { json }))
    } catch (thrown) {
      error.value = thrown
    } finally {
      isBusy.value = false
    }
  }
  // Elements have one type per kind of input; the difference does not matter here.
  const inputType = { type: isShown.value ? 'text' : 'password' } as { type: 'password' }
  const problem = fieldProblem(error.value, 'signingSecret')
  const otherProblem =
    error.value !== undefined && problem === undefined ? messageOf(error.value) : undefined
  return (
    <form class="panel wiz-panel" onSubmit={(event) => void create(event)}>
      <div class="panel-body form">
        {isVerified.value && (
          <Field label={provider.secretLabel} hint={provider.secretHint} problem={problem}>
            {(ids) => (
              <div class="with-button">
                <input
                  {...ids}
                  class="input mono"
                  {...inputType}
                  autocomplete="off"
                  spellcheck={false}
                  required
                  maxLength={1024}
                  value={secret.value}
                  onInput={(event) => (secret.value = event.currentTarget.value)}
                />
                {secret.value !== '' && (
                  <button
                    class="button"
                    type="button"
                    aria-pressed={isShown.value}
                    onClick={() => (isShown.value = !isShown.value)}
                  >
                    <span>{isShown.value ? 'Hide' : 'Show'}</span>
                  </button>
                )}
                {provider.choosesSecret && (
                  <button
                    class="button"
                    type="button"
                    onClick={() => {
                      secret.value = newSecret()
                      isShown.value = true
                      void copyText(secret.value)
                    }}
                  >
                    <span>Make one and copy it</span>
                  </button>
                )}
              </div>
            )}
          </Field>
        )}
        <label class="line-field">
          <input
            class="check"
            type="checkbox"
            checked={isVerified.value}
            onChange={(event) => (isVerified.value = event.currentTarget.checked)}
          />
          <span>Accept only events that are signed with it</span>
        </label>
        <p class="hint">
          {isVerified.value
            ? 'The secret is stored encrypted and never shown again.'
            : 'Anybody who knows the address can then send events. You can add a secret later.'}
        </p>
        {otherProblem !== undefined && <Problem>{otherProblem}</Problem>}
        <div class="buttons">
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Create source</span>
          </button>
        </div>
      </div>
    </form>
  )
}
