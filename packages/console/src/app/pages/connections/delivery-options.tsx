/** Headers, retry schedule and limits of a connection. */
import { Field, TextField } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import type { Draft, HeaderRow } from './draft.ts'

interface OptionProps {
  draft: Draft
  onChange: (changes: Partial<Draft>) => void
}

export function HeaderForm({ draft, onChange, names }: OptionProps & { names: readonly string[] }) {
  const { headers } = draft
  if (headers === undefined) {
    return (
      <>
        {names.length > 0 ? (
          <p class="hint">
            Sends <span class="mono">{names.join(', ')}</span>. Values are not shown again.
          </p>
        ) : (
          <p class="hint">Only the headers of the event and the signature are sent.</p>
        )}
        <div class="buttons rule-add">
          <button
            class="button button-small button-quiet"
            type="button"
            onClick={() =>
              onChange({
                headers: names.length > 0 ? names.map(emptyHeader) : [{ name: '', value: '' }],
              })
            }
          >
            <Icon name={names.length > 0 ? 'key' : 'plus'} />
            <span>{names.length > 0 ? 'Replace headers' : 'Add header'}</span>
          </button>
        </div>
      </>
    )
  }
  const replace = (at: number, row: HeaderRow) =>
    onChange({ headers: headers.map((each, index) => (index === at ? row : each)) })
  return (
    <>
      {names.length > 0 && (
        <p class="hint">Enter all values again: the stored ones cannot be shown.</p>
      )}
      <div class="rules">
        {headers.map((row, index) => (
          <div class="rule rule-header" key={index}>
            <input
              class="input mono"
              aria-label="Header name"
              placeholder="authorization"
              spellcheck={false}
              value={row.name}
              onInput={(event) => replace(index, { ...row, name: event.currentTarget.value })}
            />
            <input
              class="input mono"
              aria-label="Header value"
              autocomplete="off"
              spellcheck={false}
              value={row.value}
              onInput={(event) => replace(index, { ...row, value: event.currentTarget.value })}
            />
            <button
              class="button button-icon button-quiet button-small"
              type="button"
              aria-label="Remove header"
              title="Remove header"
              onClick={() => onChange({ headers: headers.filter((_, at) => at !== index) })}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
      <div class="buttons rule-add">
        <button
          class="button button-small button-quiet"
          type="button"
          onClick={() => onChange({ headers: [...headers, { name: '', value: '' }] })}
        >
          <Icon name="plus" />
          <span>Add header</span>
        </button>
        <button
          class="button button-small button-quiet"
          type="button"
          onClick={() => onChange({ headers: undefined })}
        >
          <span>Leave unchanged</span>
        </button>
      </div>
    </>
  )
}

const emptyHeader = (name: string): HeaderRow => ({ name, value: '' })

export function RetryForm({
  draft,
  onChange,
  problem,
}: OptionProps & { problem?: string | undefined }) {
  return (
    <TextField
      label="Wait before each attempt"
      class="input mono"
      spellcheck={false}
      placeholder="0s, 30s, 2m, 15m, 1h, 4h, 12h, 1d"
      value={draft.retry}
      onInput={(retry) => onChange({ retry })}
      hint="At most eight, with commas. Empty: eight attempts within 41 hours."
      problem={problem}
    />
  )
}

export function LimitForm({ draft, onChange }: OptionProps) {
  return (
    <div class="limit-fields">
      <Field label="Concurrent attempts" hint="1 to 100; empty: no limit">
        {(ids) => (
          <input
            {...ids}
            class="input"
            inputMode="numeric"
            value={draft.concurrency}
            onInput={(event) => onChange({ concurrency: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Attempts per second" hint="0.01 to 1,000; empty: no limit">
        {(ids) => (
          <input
            {...ids}
            class="input"
            inputMode="decimal"
            value={draft.perSecond}
            onInput={(event) => onChange({ perSecond: event.currentTarget.value })}
          />
        )}
      </Field>
    </div>
  )
}
