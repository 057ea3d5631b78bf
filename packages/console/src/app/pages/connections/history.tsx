/** Who changed a connection, when, and what was replaced. */
import type { z } from 'zod'
import type { AuditView } from '@strongroom/ferryhook/accounts/audit/routes'
import { useSignal } from '@preact/signals'
import { type Connection, fetchItems } from '../../api/ferryhook.ts'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded, LoadMore } from '../../parts/states.tsx'
import { ExactTime } from '../../parts/time.tsx'

type Entry = z.infer<typeof AuditView>

const ACTIONS: Readonly<Record<string, string>> = {
  'connection.created': 'Created',
  'connection.changed': 'Changed',
  'connection.paused': 'Paused',
  'connection.resumed': 'Resumed',
  'connection.deleted': 'Deleted',
  'connection.tested': 'Test delivery',
  'connection.secret_rotated': 'Secret rotated',
  'connection.secret_shown': 'Secret shown',
}

const PAGE_SIZE = 50

export function History({ connection }: { connection: Connection }) {
  const max = useSignal(PAGE_SIZE)
  const resource = useResource((abort) =>
    fetchItems<Entry>('/audit', { max: max.value, query: { target: connection.id }, abort }),
  )
  return (
    <Loaded resource={resource} what="the history">
      {({ items, hasMore }) =>
        items.length === 0 ? (
          <Empty title="No changes in the last year">Changes are kept for one year.</Empty>
        ) : (
          <>
            <HistoryTable items={items} />
            {hasMore && <LoadMore onClick={() => (max.value += PAGE_SIZE)} />}
          </>
        )
      }
    </Loaded>
  )
}

function HistoryTable({ items }: { items: readonly Entry[] }) {
  return (
    <div class="table-wrap">
      <table class="table table-cards table-page">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Replaced</th>
            <th scope="col">By</th>
            <th scope="col" class="right">
              When
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((entry) => (
            <tr key={entry.id}>
              <td class="card-wide strong">{ACTIONS[entry.action] ?? entry.action}</td>
              <td class="card-wide">
                <Changes entry={entry} />
              </td>
              <td class="mono">{entry.actor}</td>
              <td class="right nowrap">
                <ExactTime time={entry.at} withMs={false} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Changes({ entry }: { entry: Entry }) {
  if (entry.changes.length === 0) return <span class="faint">—</span>
  return (
    <ul class="change-list">
      {entry.changes.map(({ name, before, after }) => (
        <li key={name}>
          <span class="strong">{name}</span>{' '}
          {before === null && after === null ? (
            <span class="soft">replaced, not shown</span>
          ) : (
            <span class="mono small">
              <del>{before ?? 'none'}</del> → <ins>{after ?? 'none'}</ins>
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
