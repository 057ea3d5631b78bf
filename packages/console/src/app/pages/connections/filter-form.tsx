/** The filter of a connection: as a form of conditions and groups, or as JSON. */
import { useSignal } from '@preact/signals'
import type { Filter } from '@strongroom/ferryhook/filters/filter'
import type { Operator } from '@strongroom/ferryhook/filters/condition'
import { Editor } from '../../parts/editor.tsx'
import { Problem } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import type { Draft } from './draft.ts'
import {
  type ConditionRow,
  type FilterRow,
  type GroupRow,
  hasValue,
  newCondition,
  OPERATORS,
  toFilter,
  toRows,
} from './filter-rows.ts'

interface FormProps {
  draft: Draft
  onChange: (changes: Partial<Draft>) => void
}

const MAX_DEPTH = 3

export function FilterForm({ draft, onChange }: FormProps) {
  return (
    <>
      <p class="label rule-lead">
        {draft.rows.length === 0
          ? 'Every event is delivered'
          : 'Deliver when all of these are true'}
      </p>
      <Rows rows={draft.rows} depth={0} onChange={(rows) => onChange({ rows })} />
    </>
  )
}

function Rows(props: {
  rows: readonly FilterRow[]
  depth: number
  onChange: (rows: FilterRow[]) => void
}) {
  const { rows, depth, onChange } = props
  const replace = (at: number, row: FilterRow) =>
    onChange(rows.map((each, index) => (index === at ? row : each)))
  const remove = (at: number) => onChange(rows.filter((_, index) => index !== at))
  return (
    <>
      <div class="rules">
        {rows.map((row, index) =>
          row.kind === 'condition' ? (
            <Condition
              row={row}
              key={index}
              onChange={(changed) => replace(index, changed)}
              onRemove={() => remove(index)}
            />
          ) : (
            <Group
              row={row}
              depth={depth}
              key={index}
              onChange={(changed) => replace(index, changed)}
              onRemove={() => remove(index)}
            />
          ),
        )}
      </div>
      <div class="buttons rule-add">
        <button
          class="button button-small button-quiet"
          type="button"
          onClick={() => onChange([...rows, newCondition()])}
        >
          <Icon name="plus" />
          <span>Add condition</span>
        </button>
        {depth < MAX_DEPTH && (
          <button
            class="button button-small button-quiet"
            type="button"
            onClick={() =>
              onChange([...rows, { kind: 'group', mode: 'any', rows: [newCondition()] }])
            }
          >
            <Icon name="plus" />
            <span>Add group</span>
          </button>
        )}
      </div>
    </>
  )
}

function Condition(props: {
  row: ConditionRow
  onChange: (row: ConditionRow) => void
  onRemove: () => void
}) {
  const { row, onChange, onRemove } = props
  return (
    <div class="rule">
      <input
        class="input mono"
        aria-label="Path"
        spellcheck={false}
        value={row.path}
        onInput={(event) => onChange({ ...row, path: event.currentTarget.value })}
      />
      <select
        class="select"
        aria-label="Operator"
        value={row.operator}
        onChange={(event) => onChange({ ...row, operator: event.currentTarget.value as Operator })}
      >
        {OPERATORS.map(([operator, label]) => (
          <option value={operator} key={operator}>
            {label}
          </option>
        ))}
      </select>
      {hasValue(row.operator) ? (
        <input
          class="input mono"
          aria-label="Value"
          spellcheck={false}
          placeholder={row.operator === 'in' ? 'a, b' : ''}
          value={row.text}
          onInput={(event) => onChange({ ...row, text: event.currentTarget.value })}
        />
      ) : (
        <span />
      )}
      <button
        class="button button-icon button-quiet button-small"
        type="button"
        aria-label="Remove condition"
        title="Remove condition"
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </div>
  )
}

function Group(props: {
  row: GroupRow
  depth: number
  onChange: (row: GroupRow) => void
  onRemove: () => void
}) {
  const { row, depth, onChange, onRemove } = props
  return (
    <div class="rule-group" role="group" aria-label="Group of conditions">
      <div class="rule-group-head">
        <select
          class="select"
          aria-label="The group is true if"
          value={row.mode}
          onChange={(event) =>
            onChange({ ...row, mode: event.currentTarget.value as GroupRow['mode'] })
          }
        >
          <option value="any">any of these</option>
          <option value="all">all of these</option>
          <option value="not">none of these as a whole</option>
        </select>
        <button
          class="button button-icon button-quiet button-small"
          type="button"
          aria-label="Remove group"
          title="Remove group"
          onClick={onRemove}
        >
          <Icon name="close" />
        </button>
      </div>
      <Rows
        rows={row.rows}
        depth={depth + 1}
        onChange={(rows) => (rows.length === 0 ? onRemove() : onChange({ ...row, rows }))}
      />
    </div>
  )
}

/** Text that is not valid JSON stays as it is, and the form keeps the last valid filter. */
export function FilterJson({ draft, onChange }: FormProps) {
  const text = useSignal(draft.filterText ?? JSON.stringify(toFilter(draft.rows), null, 2))
  const problem = useSignal(draft.filterText === undefined ? undefined : 'Not valid JSON')
  const edit = (value: string) => {
    text.value = value
    try {
      const filter = JSON.parse(value) as Filter
      if (!Array.isArray(filter)) throw new SyntaxError('A filter is a list of conditions')
      problem.value = undefined
      onChange({ rows: toRows(filter), filterText: undefined })
    } catch (error) {
      problem.value = error instanceof Error ? error.message : 'Not valid JSON'
      onChange({ filterText: value })
    }
  }
  return (
    <>
      <Editor label="Filter as JSON" language="json" value={text.value} onInput={edit} />
      {problem.value !== undefined && <Problem>{problem.value}</Problem>}
    </>
  )
}
