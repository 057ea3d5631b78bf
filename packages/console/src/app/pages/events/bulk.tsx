/** What can be done with the selected events. */
import type { ReadonlySignal } from '@preact/signals'
import { useSignal } from '@preact/signals'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { copyText } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { showToast } from '../../shell/toasts.tsx'

export type BulkAction = 'replay' | 'cancel' | 'retry' | 'hold'

interface Result {
  eventId: string
  deliveries: unknown[]
  error: { code: string; message: string } | null
}

/** Of one request. */
const MAX_EVENTS = 100

const DONE: Record<BulkAction, string> = {
  replay: 'Replaying',
  cancel: 'Cancelled the deliveries of',
  retry: 'Attempting now',
  hold: 'Held',
}

/** Says how many succeeded, and why the first of the others did not. */
export async function actOnEvents(action: BulkAction, ids: readonly string[]): Promise<void> {
  const results: Result[] = []
  for (let from = 0; from < ids.length; from += MAX_EVENTS) {
    const response = await request<{ results: Result[] }>(
      'POST',
      `/ferryhook/v1/events/${action}`,
      {
        json: { eventIds: ids.slice(from, from + MAX_EVENTS) },
      },
    )
    results.push(...response.results)
  }
  const failed = results.filter(({ error }) => error !== null)
  const done = results.length - failed.length
  const text = `${DONE[action]} ${formatCount(done, 'event')}`
  const reason = failed[0]?.error?.message
  showToast(
    failed.length === 0
      ? { text }
      : { text: `${text}; ${failed.length} not: ${reason}`, tone: done === 0 ? 'bad' : 'warn' },
  )
}

export function BulkBar(props: {
  picked: ReadonlySignal<ReadonlySet<string>>
  clear: () => void
  onDone: () => void
}) {
  const ids = [...props.picked.value]
  const asked = useSignal<'replay' | 'cancel' | undefined>(undefined)
  if (ids.length === 0) return null
  const run = async (action: BulkAction) => {
    await actOnEvents(action, ids)
    props.clear()
    props.onDone()
  }
  return (
    <div class="picked-place">
      <div class="picked" role="toolbar" aria-label="Selected events">
        <strong>{ids.length} selected</strong>
        <ActionButton small run={() => void (asked.value = 'replay')}>
          <span>Replay</span>
        </ActionButton>
        <ActionButton small run={() => void (asked.value = 'cancel')}>
          <span>Cancel deliveries</span>
        </ActionButton>
        <button
          class="button button-icon button-small"
          type="button"
          aria-label="Copy ids"
          title="Copy ids"
          onClick={() => void copyText(ids.join('\n'))}
        >
          <Icon name="copy" />
        </button>
        <button
          class="button button-icon button-small"
          type="button"
          aria-label="Clear selection (Esc)"
          title="Clear selection (Esc)"
          onClick={props.clear}
        >
          <Icon name="close" />
        </button>
      </div>
      {asked.value === 'replay' && (
        <ConfirmDialog
          title={`Replay ${formatCount(ids.length, 'event')}`}
          confirm="Replay"
          keep="Close"
          isDestructive={false}
          consequences={[
            'Each is delivered again to all connections of its source, also where it was delivered before.',
            'Events that are still being delivered, or whose signature is not valid, are left alone.',
          ]}
          onConfirm={() => run('replay')}
          onClose={() => (asked.value = undefined)}
        />
      )}
      {asked.value === 'cancel' && (
        <ConfirmDialog
          title={`Cancel the deliveries of ${formatCount(ids.length, 'event')}`}
          confirm="Cancel deliveries"
          keep="Keep trying"
          consequences={[
            'What is pending is not attempted again and counts as failed.',
            'A replay can deliver the events later.',
          ]}
          onConfirm={() => run('cancel')}
          onClose={() => (asked.value = undefined)}
        />
      )}
    </div>
  )
}
