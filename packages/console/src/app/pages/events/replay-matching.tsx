/** Replays every event that the filter lists, as a job of its source. */
import { useSignal } from '@preact/signals'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatExact } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { statusWord } from '../../parts/status.tsx'
import { navigate, query } from '../../router.ts'
import { apiQuery, type EventFilter, parseFilter } from './filter.ts'

export function ReplayMatching() {
  const asked = useSignal<EventFilter | undefined>(undefined)
  const filter = parseFilter(query.value)
  return (
    <>
      <span class="hide-small">
        <ActionButton
          notAllowed={whyNot(filter)}
          run={() => void (asked.value = parseFilter(query.peek()))}
        >
          <Icon name="replay" />
          <span>Replay matching…</span>
        </ActionButton>
      </span>
      {asked.value && (
        <ConfirmDialog
          title="Replay all matching events"
          confirm="Start replay"
          keep="Close"
          isDestructive={false}
          consequences={consequencesOf(asked.value)}
          onConfirm={() => start(asked.value ?? filter)}
          onClose={() => (asked.value = undefined)}
        />
      )}
    </>
  )
}

/** A job is of one source, and selects one status. */
function whyNot({ source, status }: EventFilter): string | undefined {
  if (source.length !== 1) return 'Filter by one source to replay its matching events'
  if (status.length > 1) return 'Choose one status to replay the matching events'
  if (status[0] === 'signature_failed') return 'Replay events without a valid signature one by one'
  return undefined
}

function consequencesOf(filter: EventFilter): string[] {
  const { from, to } = apiQuery(filter, Date.now())
  const until = to === undefined ? 'now' : formatExact(Date.parse(to), { withMs: false })
  const since = formatExact(Date.parse(from ?? ''), { withMs: false })
  const [status] = filter.status
  return [
    `Events received from ${since} to ${until} are replayed, oldest first, 50 deliveries a second.`,
    status === undefined
      ? 'Events that were delivered are delivered a second time.'
      : `Only events that are ${statusWord(status).toLowerCase()} are replayed.`,
    'The replay can be cancelled while it runs.',
  ]
}

async function start(filter: EventFilter): Promise<void> {
  const { status, connection, type, header, body, from, to } = apiQuery(filter, Date.now())
  const job = await request<{ id: string }>('POST', '/ferryhook/v1/replays', {
    json: {
      sourceId: filter.source[0],
      from,
      ...(to !== undefined && { to }),
      ...(status !== undefined && { status }),
      ...(type !== undefined && { type }),
      ...(header !== undefined && { header }),
      ...(body !== undefined && { body }),
      ...(connection !== undefined && { connectionIds: [connection] }),
    },
  })
  navigate(`/replays/${job.id}`)
}
