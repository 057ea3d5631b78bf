/** Step 1: who sends the webhooks, and what the source is called. */
import { type Signal, useSignal } from '@preact/signals'
import { TextField } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { param, setQuery } from '../../router.ts'
import { type ProviderId, providerOf, providers } from './providers.ts'

export function ProviderStep({
  name,
  onDone,
}: {
  name: Signal<string>
  onDone: (provider: ProviderId) => void
}) {
  const search = useSignal('')
  const chosen = providerOf(param('provider'))
  const isMissing = useSignal(false)
  const found = providers.filter((each) =>
    each.name.toLowerCase().includes(search.value.trim().toLowerCase()),
  )
  const submit = (event: Event) => {
    event.preventDefault()
    if (chosen) onDone(chosen.id)
    else isMissing.value = true
  }
  return (
    <form class="panel wiz-panel" onSubmit={submit}>
      <div class="panel-head">
        <h3>Who sends the webhooks?</h3>
        <span class="push" />
        <div class="query query-small">
          <Icon name="search" />
          <input
            type="text"
            aria-label="Find a provider"
            placeholder="Find a provider"
            value={search.value}
            onInput={(event) => (search.value = event.currentTarget.value)}
          />
        </div>
      </div>
      <div class="panel-body form">
        <fieldset class="choices" aria-invalid={isMissing.value && !chosen ? 'true' : undefined}>
          <legend class="unseen">Provider</legend>
          {found.map((each) => (
            <label class="choice" key={each.id}>
              <input
                type="radio"
                name="provider"
                value={each.id}
                checked={each.id === chosen?.id}
                onChange={() => setQuery({ provider: each.id }, { replace: true })}
              />
              <span>{each.name}</span>
            </label>
          ))}
        </fieldset>
        {found.length === 0 && (
          <p class="hint">
            No provider is called “{search.value}”. Choose Custom: any sender works.{' '}
            <button class="button button-small" type="button" onClick={() => (search.value = '')}>
              <span>Show all</span>
            </button>
          </p>
        )}
        {isMissing.value && !chosen && (
          <p class="problem" role="alert">
            Choose who sends the webhooks
          </p>
        )}
        <TextField
          label="Name"
          hint="To recognize it in lists, such as the account or repository."
          maxLength={100}
          placeholder={chosen?.name ?? ''}
          value={name.value}
          onInput={(value) => (name.value = value)}
        />
        <div class="buttons">
          <button class="button button-primary" type="submit">
            <span>Continue</span>
          </button>
        </div>
      </div>
    </form>
  )
}
