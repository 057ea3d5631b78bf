/** Decisions as they happen. New ones are marked; a pause keeps what is being read in its place. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { formatExact } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { param, setQuery } from '../../router.ts'
import { useKeys } from '../../shell/keyboard.ts'
import { type Decision, listDecisions, type Outcome } from './api.ts'
import { detailsOf, reasonText, stageText, statusOfOutcome } from './reasons.ts'

const POLL_MS = 2_000
const OUTCOMES = [
  { value: undefined, name: 'All' },
  { value: 'refused', name: 'Refused' },
  { value: 'undecidable', name: 'Undecided' },
  { value: 'accepted', name: 'Accepted' },
] as const

function chosenOutcome(): Outcome | undefined {
  return OUTCOMES.find(({ value }) => value !== undefined && value === param('outcome'))?.value
}

export function Decisions({ app }: { app: string }) {
  const isPaused = useSignal(false)
  const last = useRef<Decision[]>([])
  /** What had been seen when the page was opened: later ones are marked as new. */
  const seen = useRef<number | undefined>(undefined)
  const decisions = useResource(
    async (signal) => {
      const outcome = chosenOutcome()
      if (isPaused.value) return last.current
      last.current = await listDecisions(app, outcome, signal)
      seen.current ??= last.current[0]?.number ?? 0
      return last.current
    },
    { everyMs: POLL_MS },
  )
  useKeys([{ keys: 'l', label: 'Live on or off', run: () => (isPaused.value = !isPaused.peek()) }])
  const outcome = chosenOutcome()
  return (
    <section class="panel" aria-labelledby="h-live">
      <div class="panel-head">
        <h2 id="h-live">As they happen</h2>
        <Status status={isPaused.value ? 'paused' : 'active'} look="quiet">
          {isPaused.value ? 'Paused' : 'Live'}
        </Status>
        <span class="push" />
        <div class="seg" role="group" aria-label="Show">
          {OUTCOMES.map(({ value, name }) => (
            <button
              key={name}
              type="button"
              aria-pressed={outcome === value}
              onClick={() => setQuery({ outcome: value })}
            >
              {name}
            </button>
          ))}
        </div>
        <button
          class="button button-icon button-small"
          type="button"
          aria-label={isPaused.value ? 'Continue live' : 'Pause live'}
          title={isPaused.value ? 'Continue live' : 'Pause live'}
          onClick={() => (isPaused.value = !isPaused.value)}
        >
          <Icon name={isPaused.value ? 'play' : 'pause'} />
        </button>
      </div>
      <Loaded resource={decisions} what="decisions">
        {(found) =>
          found.length === 0 ? (
            <Empty
              glyph="none"
              title={
                outcome === undefined ? 'No decisions yet' : `Nothing ${statusOfOutcome(outcome)}`
              }
              actions={
                outcome !== undefined && (
                  <button
                    class="button"
                    type="button"
                    onClick={() => setQuery({ outcome: undefined })}
                  >
                    <span>Show all</span>
                  </button>
                )
              }
            >
              Requests appear here as Slack sends them.
            </Empty>
          ) : (
            <DecisionTable decisions={found} seen={seen.current ?? 0} />
          )
        }
      </Loaded>
      <p class="panel-foot">
        The latest 200 of this server, in memory. Ids are shown to operators only and never logged.
      </p>
    </section>
  )
}

function DecisionTable({ decisions, seen }: { decisions: readonly Decision[]; seen: number }) {
  return (
    <div class="table-wrap">
      <table class="table table-cards">
        <thead>
          <tr>
            <th>Time</th>
            <th>Decision</th>
            <th>Reason</th>
            <th>Request</th>
            <th>Who</th>
            <th>Decided by</th>
          </tr>
        </thead>
        <tbody>
          {decisions.map(({ number, at, durationMs, outcome, code, stage, type, ids, ...rest }) => (
            <tr key={number} class={number > seen ? 'is-fresh' : undefined}>
              <td class="nowrap" data-name="Time">
                <time dateTime={at} title={at}>
                  {formatExact(Date.parse(at), { withMs: false })}
                </time>
              </td>
              <td class="fit">
                <Status status={statusOfOutcome(outcome)} look="quiet" />
              </td>
              <td class="card-main">
                {reasonText(code)} <code class="code-word faint">{code}</code>
                {detailsOf(rest).map((detail) => (
                  <p class="small faint" key={detail}>
                    {detail}
                  </p>
                ))}
              </td>
              <td class="mono small" data-name="Request">
                {type ?? '–'}
              </td>
              <td class="mono small" data-name="Who">
                {ids ? [ids.team, ids.user ?? ids.bot, ids.channel].filter(Boolean).join(' ') : '–'}
              </td>
              <td class="nowrap" data-name="Decided by">
                {stageText(stage, code)}, {durationMs} ms
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
