import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatCount } from '../../parts/format.ts'
import { cancelReplay, type Replay } from './api.ts'

export function CancelDialog(props: {
  replay: Replay
  onCancelled: (replay: Replay) => void
  onClose: () => void
}) {
  const { replay, onCancelled, onClose } = props
  return (
    <ConfirmDialog
      title={`Cancel the replay of ${replay.sourceName ?? 'this source'}?`}
      confirm="Cancel replay"
      keep="Keep it running"
      consequences={[
        'No further events are replayed. The job cannot be continued; start a new one for the rest.',
        `${formatCount(replay.deliveries.replayed, 'delivery', 'deliveries')} that it started so far are still delivered.`,
      ]}
      onConfirm={async () => onCancelled(await cancelReplay(replay.id))}
      onClose={onClose}
    />
  )
}
