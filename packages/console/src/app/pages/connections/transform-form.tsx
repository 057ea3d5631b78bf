/** The transform of a connection: nothing, a field map, or JavaScript. */
import { Editor } from '../../parts/editor.tsx'
import { Icon } from '../../parts/icon.tsx'
import type { Draft, MapRow, TransformType } from './draft.ts'

export const TRANSFORMS: readonly (readonly [type: TransformType, label: string])[] = [
  ['passthrough', 'None'],
  ['field_map', 'Field map'],
  ['javascript', 'JavaScript'],
]

const KINDS: readonly (readonly [kind: MapRow['kind'], label: string])[] = [
  ['copy', 'copy'],
  ['constant', 'set'],
  ['rename', 'rename'],
  ['remove', 'remove'],
]

export function TransformForm(props: {
  draft: Draft
  onChange: (changes: Partial<Draft>) => void
  problemLine: number | undefined
}) {
  const { draft, onChange, problemLine } = props
  if (draft.transformType === 'passthrough') {
    return <p class="hint">The body is delivered byte for byte as it was received.</p>
  }
  if (draft.transformType === 'field_map') return <FieldMap draft={draft} onChange={onChange} />
  return (
    <>
      <Editor
        label="Transform in JavaScript"
        language="javascript"
        value={draft.code}
        onInput={(code) => onChange({ code })}
        problemLine={problemLine}
      />
      <p class="hint">
        Define <code>transform(event)</code>; the event has body, headers, query, method, id and
        receivedAt. Return the new body, or <code>{'{ body, headers }'}</code>, or null to drop the
        event.
      </p>
    </>
  )
}

function FieldMap({
  draft,
  onChange,
}: {
  draft: Draft
  onChange: (changes: Partial<Draft>) => void
}) {
  const { mapRows: rows, start } = draft
  const replace = (at: number, row: MapRow) =>
    onChange({ mapRows: rows.map((each, index) => (index === at ? row : each)) })
  const add = () =>
    onChange({ mapRows: [...rows, { kind: 'copy', from: '$.id', to: 'id', value: '' }] })
  return (
    <>
      <label class="line-field rule-lead">
        <input
          class="check"
          type="checkbox"
          checked={start === 'body'}
          onChange={(event) => onChange({ start: event.currentTarget.checked ? 'body' : 'empty' })}
        />
        <span>Keep all other fields of the body</span>
      </label>
      <div class="rules">
        {rows.map((row, index) => (
          <div class="rule rule-map" key={index}>
            <select
              class="select"
              aria-label="Kind of rule"
              value={row.kind}
              onChange={(event) =>
                replace(index, { ...row, kind: event.currentTarget.value as MapRow['kind'] })
              }
            >
              {KINDS.map(([kind, label]) => (
                <option value={kind} key={kind}>
                  {label}
                </option>
              ))}
            </select>
            {row.kind === 'constant' ? (
              <input
                class="input mono"
                aria-label="Value"
                spellcheck={false}
                placeholder={'"EUR" or 42'}
                value={row.value}
                onInput={(event) => replace(index, { ...row, value: event.currentTarget.value })}
              />
            ) : (
              <input
                class="input mono"
                aria-label="From path"
                spellcheck={false}
                placeholder="$.data.amount"
                value={row.from}
                onInput={(event) => replace(index, { ...row, from: event.currentTarget.value })}
              />
            )}
            {row.kind === 'remove' ? (
              <span />
            ) : (
              <input
                class="input mono"
                aria-label="To field"
                spellcheck={false}
                placeholder="total"
                value={row.to}
                onInput={(event) => replace(index, { ...row, to: event.currentTarget.value })}
              />
            )}
            <button
              class="button button-icon button-quiet button-small"
              type="button"
              aria-label="Remove rule"
              title="Remove rule"
              onClick={() => onChange({ mapRows: rows.filter((_, at) => at !== index) })}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
      <div class="buttons rule-add">
        <button class="button button-small button-quiet" type="button" onClick={add}>
          <Icon name="plus" />
          <span>Add rule</span>
        </button>
      </div>
    </>
  )
}
