/** Chooses the connections that an event is delivered to again. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/field.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { type EventDetail, isPending, nameOf } from './event.ts'

interface Connection {
  id: string
  name: string
}

export function ReplayDialog(props: {
  event: EventDetail
  onClose: () => void
  onReplayed: () => void
}) {
  const { event } = props
  const connections = useResource((signal) =>
    request<{ items: Connection[] }>('GET', `/ferryhook/v1/sources/${event.sourceId}/connections`, {
      signal,
    }),
  )
  const unchosen = useSignal<ReadonlySet<string>>(new Set())
  const isAccepted = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const stateOf = (id: string) => event.deliveries.find((each) => each.connectionId === id)?.state
  const isBlocked = (id: string) => isPending(stateOf(id) ?? 'failed')
  const all = connections.data.value?.items ?? []
  const chosen = all.filter(({ id }) => !isBlocked(id) && !unchosen.value.has(id))
  const isReady = chosen.length > 0 && (!event.unverified || isAccepted.value)
  const replay = async () => {
    if (!isReady || isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      await request('POST', `/ferryhook/v1/events/${event.id}/replay`, {
        json: {
          connectionIds: chosen.map(({ id }) => id),
          ...(event.unverified && { acceptUnverified: true }),
        },
      })
      showToast({ text: `Replaying to ${count(chosen.length)}` })
      props.onReplayed()
      props.onClose()
    } catch (error) {
      problem.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog
      title={`Replay ${nameOf(event)}`}
      onClose={props.onClose}
      onSubmit={() => void replay()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>Close</span>
          </button>
          <button
            class="button button-primary"
            type="submit"
            aria-disabled={!isReady || isBusy.value}
          >
            <span>Replay to {count(chosen.length)}</span>
          </button>
        </>
      }
    >
      <p>
        The event is filtered and transformed as each connection is set up now, signed again and
        marked as a replay. Earlier attempts stay on record.
      </p>
      <Loaded resource={connections} what="connections">
        {({ items }) =>
          items.length === 0 ? (
            <p>The source has no connection. Add one to replay the event.</p>
          ) : (
            <fieldset class="checks">
              <legend class="label">Deliver to</legend>
              {items.map(({ id, name }) => (
                <label class="line-field" key={id}>
                  <input
                    class="check"
                    type="checkbox"
                    checked={!isBlocked(id) && !unchosen.value.has(id)}
                    disabled={isBlocked(id)}
                    onChange={() => {
                      const next = new Set(unchosen.value)
                      if (!next.delete(id)) next.add(id)
                      unchosen.value = next
                    }}
                  />
                  <span class="cut">
                    <bdi>{name}</bdi>
                  </span>
                  <span class="push small faint">{noteOf(stateOf(id))}</span>
                </label>
              ))}
            </fieldset>
          )
        }
      </Loaded>
      {event.unverified && (
        <label class="line-field">
          <input
            class="check"
            type="checkbox"
            checked={isAccepted.value}
            onChange={(change) => (isAccepted.value = change.currentTarget.checked)}
          />
          <span>Its signature is not valid. Deliver it nevertheless.</span>
        </label>
      )}
      {problem.value !== undefined && <Problem>{problem.value}</Problem>}
    </Dialog>
  )
}

function count(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`
}

function noteOf(state: string | undefined): string {
  if (state === 'delivered') return 'Delivered before: it gets a second copy'
  if (state === 'retrying') return 'Still being retried: use Retry now'
  if (state === 'held') return 'Held: use Release'
  return state === 'runnable' ? 'Being delivered now' : ''
}
