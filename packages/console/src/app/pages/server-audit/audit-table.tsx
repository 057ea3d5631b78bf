/** Entries by day, with what was replaced. */
import { formatDay, formatExact, isUtc } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Status } from '../../parts/status.tsx'
import { BASE, query, withQuery } from '../../router.ts'
import type { AuditEntry } from './api.ts'

export function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  const days = Map.groupBy(entries, ({ at }) => dayOf(at))
  return (
    <div class="table-wrap">
      <table class="table table-cards table-audit">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Target</th>
            <th scope="col">Who</th>
            <th scope="col">Through</th>
          </tr>
        </thead>
        {[...days].map(([day, listed]) => (
          <tbody key={day}>
            <tr class="day">
              <th colSpan={5} scope="rowgroup">
                {day}
              </th>
            </tr>
            {listed.map((entry) => (
              <Row entry={entry} key={`${entry.month}/${entry.seq}`} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

function dayOf(at: string): string {
  const [time, today] = [Date.parse(at), Date.now()]
  const day = formatDay(time)
  if (day === formatDay(today)) return `Today, ${day}`
  return day === formatDay(today - 86_400_000) ? `Yesterday, ${day}` : day
}

function Row({ entry }: { entry: AuditEntry }) {
  const at = Date.parse(entry.at)
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeStyle: 'medium',
    ...(isUtc.value && { timeZone: 'UTC' }),
  }).format(at)
  const isLocal = entry.actor.startsWith('local:')
  return (
    <tr>
      <td class="fit">
        <time dateTime={entry.at} title={`${formatExact(at)}, entry ${entry.month}/${entry.seq}`}>
          {clock}
        </time>
      </td>
      <td class="card-main">
        <span class="strong">{actionWords(entry.action)}</span>{' '}
        <a class="faint code-word hide-small" href={filterBy('action', entry.action)}>
          <code>{entry.action}</code>
        </a>{' '}
        {entry.outcome === 'failed' && <Status status="failed" />}
        {entry.outcome === 'started' && <Status status="processing">Started</Status>}
        <Changes entry={entry} />
      </td>
      <td class="cut-cell">
        {entry.target !== null && (
          <a class="link" href={filterBy('target', entry.target)} title={entry.target}>
            {entry.target}
          </a>
        )}
      </td>
      <td>
        <a class="link svc who-cell" href={filterBy('who', entry.actor)} title={entry.actor}>
          <Icon name={isLocal ? 'terminal' : 'person'} />
          <span class="cut">{entry.actor.replace(/^(?:operator|local):/, '')}</span>
        </a>
      </td>
      <td class="soft fit card-none">{isLocal ? 'Command' : (entry.address ?? 'API')}</td>
    </tr>
  )
}

function filterBy(name: string, value: string): string {
  const parameters = new URLSearchParams(query.value)
  parameters.set(name, value)
  return BASE + withQuery('/server/audit', parameters)
}

/** `form-bridge.site.suspended` becomes "Site suspended". */
function actionWords(action: string): string {
  const words = action.split('.').slice(1).join(' ').replaceAll('_', ' ')
  return words === '' ? action : words.charAt(0).toUpperCase() + words.slice(1)
}

function Changes({ entry: { before, after } }: { entry: AuditEntry }) {
  const [old, next] = [fieldsOf(before), fieldsOf(after)]
  const names = [...new Set([...old.keys(), ...next.keys()])].filter(
    (name) => old.get(name) !== next.get(name),
  )
  return (
    <>
      {names.map((name) => (
        <p class="second diff-line" key={name}>
          {old.has(name) && (
            <del>
              <span class="unseen">Before: </span>
              {name}: {old.get(name)}
            </del>
          )}{' '}
          {next.has(name) && (
            <ins>
              <span class="unseen">After: </span>
              {name}: {next.get(name)}
            </ins>
          )}
        </p>
      ))}
    </>
  )
}

/** What was not set is left out, so that only changes are shown. */
function fieldsOf(value: unknown): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map()
  return new Map(
    Object.entries(value)
      .filter(([, each]) => each !== null && each !== undefined)
      .map(([name, each]) => [name, typeof each === 'string' ? each : JSON.stringify(each)]),
  )
}
