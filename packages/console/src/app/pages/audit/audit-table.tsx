/** Entries by day, with what was replaced. */
import { user } from '../../api/user-session.ts'
import { formatDay, formatExact, isUtc, shortId } from '../../parts/format.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { BASE, query, withQuery } from '../../router.ts'
import type { AuditEntry } from './api.ts'
import { actionWords, attributeWords } from './words.ts'

type Names = ReadonlyMap<string, string>

export function AuditTable({ entries, names }: { entries: readonly AuditEntry[]; names: Names }) {
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
          </tr>
        </thead>
        {[...days].map(([day, listed]) => (
          <tbody key={day}>
            <tr class="day">
              <th colSpan={4} scope="rowgroup">
                {day}
              </th>
            </tr>
            {listed.map((entry) => (
              <Row entry={entry} names={names} key={entry.id} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

function dayOf(at: string): string {
  const [time, now] = [Date.parse(at), Date.now()]
  const day = formatDay(time)
  if (day === formatDay(now)) return `Today, ${day}`
  return day === formatDay(now - 86_400_000) ? `Yesterday, ${day}` : day
}

function Row({ entry, names }: { entry: AuditEntry; names: Names }) {
  const at = Date.parse(entry.at)
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeStyle: 'medium',
    ...(isUtc.value && { timeZone: 'UTC' }),
  }).format(at)
  return (
    <tr>
      <td class="fit">
        <time dateTime={entry.at} title={formatExact(at)}>
          {clock}
        </time>
      </td>
      <td class="card-main">
        <span class="strong">{actionWords(entry.action)}</span>{' '}
        <code class="faint code-word hide-small">{entry.action}</code>
        <Changes entry={entry} />
      </td>
      <td class="cut-cell">
        <Target entry={entry} names={names} />
      </td>
      <td>
        <Actor actor={entry.actor} names={names} />
      </td>
    </tr>
  )
}

function Changes({ entry: { changes } }: { entry: AuditEntry }) {
  return changes.map(({ name, before, after }) => (
    <p class="second diff-line" key={name}>
      {before !== null && (
        <del>
          <span class="unseen">Before: </span>
          {attributeWords(name)}: {before}
        </del>
      )}{' '}
      {after !== null && (
        <ins>
          <span class="unseen">After: </span>
          {attributeWords(name)}: {after}
        </ins>
      )}
      {before === null && after === null && `${attributeWords(name)} changed, not shown`}
    </p>
  ))
}

const PAGES: readonly (readonly [prefix: string, address: string])[] = [
  ['src_', '/sources/'],
  ['conn_', '/connections/'],
  ['evt_', '/events/'],
  ['rpl_', '/replays/'],
]

/** Deliveries are an event and a connection. */
function Target({
  entry: { target, changes, action },
  names,
}: {
  entry: AuditEntry
  names: Names
}) {
  if (target === null) return null
  const id = target.split('/')[0] ?? target
  const created = action.endsWith('.created')
    ? changes.find(({ name }) => name === 'name')?.after
    : undefined
  const text = names.get(id) ?? created ?? (id.includes('_') ? shortId(id) : id)
  const page = PAGES.find(([prefix]) => id.startsWith(prefix))
  const filter = new URLSearchParams(query.value)
  filter.set('target', id)
  return (
    <>
      {page ? (
        <a class="link" href={`${BASE}${page[1]}${id}`} title={id}>
          {text}
        </a>
      ) : (
        <span title={target}>{text}</span>
      )}{' '}
      {query.value.get('target') !== id && (
        <a
          class="only-this"
          href={`${BASE}${withQuery('/audit', filter)}`}
          aria-label={`Only ${text}`}
        >
          only
        </a>
      )}
    </>
  )
}

const KINDS: Readonly<Record<string, IconName>> = {
  user: 'person',
  key: 'key',
  operator: 'server',
}

/** Actors are `user:ID`, `key:ID` and `operator:NAME`. */
export function actorName(actor: string, names: Names): string {
  const [kind = '', id = actor] = actor.split(':')
  if (kind === 'user') return id === user.value?.id ? user.value.email : shortId(id)
  if (kind === 'key') return `API key ${names.get(id) ?? shortId(id)}`
  if (kind === 'operator') return `Operator ${id}`
  return actor
}

function Actor({ actor, names }: { actor: string; names: Names }) {
  const kind = actor.split(':')[0] ?? ''
  return (
    <span class="svc who-cell" title={actor}>
      <Icon name={KINDS[kind] ?? 'server'} />
      <span class="cut">{actorName(actor, names)}</span>
    </span>
  )
}
