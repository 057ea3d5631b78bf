/** What the filter and the transform being edited do to a stored event, as one types. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import {
  type Connection,
  destinationName,
  type EventDetail,
  type EventItem,
  latestEvents,
  V1,
} from '../../api/ferryhook.ts'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { formatBytes, formatRelative, now } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { prettyJson } from '../../parts/line-diff.ts'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loading } from '../../parts/states.tsx'
import { Status, StatusIcon } from '../../parts/status.tsx'
import { param, setQuery } from '../../router.ts'
import { useKeys } from '../../shell/keyboard.ts'
import { CodeView, DiffView } from './code-view.tsx'
import { type Draft, draftProblem, transformOf } from './draft.ts'
import { DryRunMany } from './dry-run-many.tsx'
import { toFilter } from './filter-rows.ts'

const DEBOUNCE_MS = 300
const SAMPLES = 50

export interface DryRunResult {
  outcome: 'filtered' | 'dropped' | 'failed' | 'delivered'
  matched: boolean
  reason?: string
  error?: { code: string; message: string }
  body?: string
  encoding?: 'utf-8' | 'base64'
  contentType?: string
  headers?: Record<string, string>
  console: string[]
}

export interface DryRunState {
  result?: DryRunResult | undefined
  problem?: string | undefined
  isRunning: boolean
}

export function DryRunPane(props: {
  connection: Connection
  draft: Draft
  /** Tells the editor which line of the script failed. */
  onResult: (result: DryRunResult | undefined) => void
}) {
  const { connection, draft, onResult } = props
  const samples = useResource((abort) => latestEvents(connection.sourceId, SAMPLES, abort))
  const wanted = param('sample')
  const items = samples.data.value ?? []
  const chosen = items.find(({ id }) => id === wanted)?.id ?? wanted ?? items[0]?.id
  const step = (by: 1 | -1) => {
    const at = items.findIndex(({ id }) => id === chosen)
    const next = items[Math.min(items.length - 1, Math.max(0, at + by))]
    if (next) setQuery({ sample: next.id }, { replace: true })
  }
  useKeys(
    [
      { keys: 'Alt+[', label: 'Newer sample event', run: () => step(-1) },
      { keys: 'Alt+]', label: 'Older sample event', run: () => step(1) },
    ],
    [chosen, items.length],
  )
  return (
    <section class="pane pane-dry" aria-label="Dry run">
      <div class="dry-head">
        <h2>Dry run</h2>
        <SampleSelect items={items} chosen={chosen} />
        <div class="joined">
          <button
            class="button button-icon button-plain"
            type="button"
            aria-label="Newer event (Alt+[)"
            title="Newer event (Alt+[)"
            onClick={() => step(-1)}
          >
            <Icon name="left" />
          </button>
          <button
            class="button button-icon button-plain"
            type="button"
            aria-label="Older event (Alt+])"
            title="Older event (Alt+])"
            onClick={() => step(1)}
          >
            <Icon name="right" />
          </button>
        </div>
      </div>
      <div class="pane-scroll" tabIndex={0} aria-label="Result of the dry run">
        {chosen === undefined ? (
          samples.isLoading.value ? (
            <Loading rows={3} />
          ) : (
            <NoSample connection={connection} reload={samples.reload} />
          )
        ) : (
          <>
            <OneEvent
              connection={connection}
              draft={draft}
              eventId={chosen}
              onResult={onResult}
              key={chosen}
            />
            <DryRunMany connection={connection} draft={draft} />
          </>
        )}
      </div>
    </section>
  )
}

function SampleSelect({
  items,
  chosen,
}: {
  items: readonly EventItem[]
  chosen: string | undefined
}) {
  const isListed = items.some(({ id }) => id === chosen)
  return (
    <select
      class="select"
      aria-label="Event to try it on"
      value={chosen ?? ''}
      onChange={(event) => setQuery({ sample: event.currentTarget.value }, { replace: true })}
    >
      {chosen === undefined && <option value="">No events yet</option>}
      {chosen !== undefined && !isListed && <option value={chosen}>{chosen}</option>}
      {items.map((item) => (
        <option value={item.id} key={item.id}>
          {item.type ?? item.id}, {formatRelative(Date.parse(item.receivedAt), now.value)} ago
        </option>
      ))}
    </select>
  )
}

function NoSample({ connection, reload }: { connection: Connection; reload: () => void }) {
  const send = async () => {
    await request('POST', `${V1}/sources/${connection.sourceId}/test-event`)
    reload()
  }
  return (
    <Empty
      title="No event to try it on"
      actions={
        <button class="button" type="button" onClick={() => void send().catch(() => {})}>
          <Icon name="send" />
          <span>Send a test event</span>
        </button>
      }
    >
      As soon as the source has received an event, you see here what the filter and the transform do
      to it. Nothing is delivered.
    </Empty>
  )
}

/** Runs again a moment after the last change; the last result stays meanwhile. */
function useDryRun(connection: Connection, draft: Draft, eventId: string): DryRunState {
  const state = useSignal<DryRunState>({ isRunning: true })
  const filters = toFilter(draft.rows)
  const transform = transformOf(draft)
  const invalid = draftProblem(draft)
  const blocking = invalid && invalid.section !== 'retry' ? invalid.message : undefined
  const json = { filters, transform, eventId }
  const key = JSON.stringify(json)
  useEffect(() => {
    if (blocking !== undefined) {
      state.value = { ...state.peek(), problem: blocking, isRunning: false }
      return undefined
    }
    const abort = new AbortController()
    const run = async () => {
      state.value = { ...state.peek(), isRunning: true }
      try {
        const path = `${V1}/sources/${connection.sourceId}/dry-run`
        const result = await request<DryRunResult>('POST', path, { json, signal: abort.signal })
        state.value = { result, isRunning: false }
      } catch (error) {
        if (abort.signal.aborted) return
        const details = error instanceof Error && 'details' in error ? error.details : []
        const [first] = details as { message: string }[]
        state.value = {
          ...state.peek(),
          problem: first?.message ?? messageOf(error),
          isRunning: false,
        }
      }
    }
    const timer = setTimeout(() => void run(), state.peek().result ? DEBOUNCE_MS : 0)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [key, blocking])
  return state.value
}

function OneEvent(props: {
  connection: Connection
  draft: Draft
  eventId: string
  onResult: (result: DryRunResult | undefined) => void
}) {
  const { connection, draft, eventId, onResult } = props
  const input = useResource((signal) =>
    request<EventDetail>('GET', `${V1}/events/${eventId}`, { signal }),
  )
  const { result, problem, isRunning } = useDryRun(connection, draft, eventId)
  useEffect(() => onResult(result), [result])
  const event = input.data.value
  if (!event && input.error.value !== undefined) {
    return (
      <Empty glyph="none" title="This event is not available">
        It has expired, or belongs to another source. Choose another one.
      </Empty>
    )
  }
  return (
    <>
      <Steps connection={connection} draft={draft} result={result} problem={problem} />
      <div class="dry-body" aria-busy={isRunning}>
        {event && <Views event={event} result={result} />}
      </div>
    </>
  )
}

function Steps(props: {
  connection: Connection
  draft: Draft
  result: DryRunResult | undefined
  problem: string | undefined
}) {
  const { draft, result, problem } = props
  if (problem !== undefined) {
    return (
      <div class="steps-line" role="status">
        <p class="step-line">
          <StatusIcon status="failed" />
          <span class="strong">Not valid</span>
          <span class="soft">{problem}</span>
        </p>
      </div>
    )
  }
  if (!result) return <div class="steps-line" />
  const sends = result.outcome === 'delivered'
  const bytes = sends ? sizeOf(result) : 0
  return (
    <ol class="steps-line" aria-live="polite">
      <li class="step-line">
        <StatusIcon status={result.matched ? 'done' : 'filtered'} />
        <span class="strong">Filter</span>
        <span class="soft">
          {draft.rows.length === 0
            ? 'none'
            : result.matched
              ? 'matches'
              : (result.reason ?? 'does not match')}
        </span>
      </li>
      {result.matched && (
        <li class="step-line">
          <StatusIcon
            status={
              result.outcome === 'failed'
                ? 'failed'
                : result.outcome === 'dropped'
                  ? 'filtered'
                  : 'done'
            }
          />
          <span class="strong">Transform</span>
          <span class={result.outcome === 'failed' ? 'step-bad' : 'soft'}>
            {result.error?.message ??
              (result.outcome === 'dropped'
                ? (result.reason ?? 'drops the event')
                : draft.transformType === 'passthrough'
                  ? 'none'
                  : 'succeeds')}
          </span>
        </li>
      )}
      <li class="step-line">
        <StatusIcon status={sends ? 'done' : 'disabled'} />
        <span class="strong">{sends ? 'Would send' : 'Would send nothing'}</span>
        {sends && (
          <>
            <span class="soft cut">POST {destinationName(draft.destinationUrl)}</span>
            <span class="push faint num nowrap">{formatBytes(bytes)}</span>
          </>
        )}
      </li>
    </ol>
  )
}

function sizeOf({ body = '', encoding }: DryRunResult): number {
  return encoding === 'base64'
    ? Math.floor((body.length * 3) / 4)
    : new TextEncoder().encode(body).byteLength
}

const VIEWS = ['Difference', 'Input', 'Output', 'Headers', 'Console'] as const
type View = (typeof VIEWS)[number]

function Views({ event, result }: { event: EventDetail; result: DryRunResult | undefined }) {
  const view = useSignal<View>('Difference')
  const input = useMemo(() => textOf(event), [event])
  const output = result?.outcome === 'delivered' ? textOf(result) : undefined
  const headers = { 'content-type': result?.contentType ?? '', ...result?.headers }
  const count = { Headers: Object.keys(headers).length, Console: result?.console.length ?? 0 }
  return (
    <div class="viewer">
      <div class="viewer-head viewer-tabs">
        <div class="tabs" role="tablist" aria-label="Result">
          {VIEWS.map((name) => (
            <button
              class="tab"
              type="button"
              role="tab"
              aria-selected={view.value === name}
              key={name}
              onClick={() => (view.value = name)}
            >
              {name}
              {(name === 'Console' || name === 'Headers') && count[name] > 0 && (
                <span class="count">{count[name]}</span>
              )}
            </button>
          ))}
        </div>
        <span class="push" />
        {output !== undefined && <CopyButton text={output} label="Copy output" />}
      </div>
      <ViewContent
        view={view.value}
        input={input}
        output={output}
        result={result}
        headers={headers}
      />
    </div>
  )
}

function ViewContent(props: {
  view: View
  input: string
  output: string | undefined
  result: DryRunResult | undefined
  headers: Record<string, string>
}) {
  const { view, input, output, result, headers } = props
  if (view === 'Input') return <CodeView text={input} label="Input" />
  if (view === 'Console') {
    const lines = result?.console ?? []
    return lines.length === 0 ? (
      <p class="viewer-note">The script wrote nothing to the console</p>
    ) : (
      <CodeView text={lines.join('\n')} label="Console output" />
    )
  }
  if (output === undefined) {
    return (
      <p class="viewer-note">
        <Status status={result?.outcome === 'failed' ? 'failed' : 'filtered'}>
          {result?.error?.message ?? result?.reason ?? 'Nothing would be sent'}
        </Status>
      </p>
    )
  }
  if (view === 'Output') return <CodeView text={output} label="Output" />
  if (view === 'Headers') {
    return (
      <table class="headers">
        <tbody>
          {Object.entries(headers).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td dir="ltr">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )
  }
  return input === output ? (
    <>
      <p class="viewer-note">The output is the input</p>
      <CodeView text={output} label="Output" />
    </>
  ) : (
    <DiffView before={input} after={output} />
  )
}

function textOf({ body = '', encoding }: { body?: string; encoding?: string }): string {
  return encoding === 'base64' ? `(binary, in base64)\n${body}` : prettyJson(body)
}
