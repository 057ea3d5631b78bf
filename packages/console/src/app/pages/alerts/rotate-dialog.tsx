/** Replaces the signing secret; the old one stays valid for a while. */
import { useSignal } from '@preact/signals'
import { request } from '../../api/request.ts'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'

const OVERLAPS = [
  [86_400, '24 hours'],
  [604_800, '7 days'],
  [3_600, '1 hour'],
  [0, 'Not at all'],
] as const

export function RotateDialog(props: { onRotated: (secret: string) => void; onClose: () => void }) {
  const overlapSeconds = useSignal<number>(86_400)
  return (
    <ConfirmDialog
      title="Rotate the signing secret of alerts?"
      confirm="Rotate secret"
      keep="Keep secret"
      isDestructive={false}
      consequences={[
        'A new secret is created and shown once.',
        overlapSeconds.value === 0
          ? 'Alerts are signed with the new secret only, immediately.'
          : 'Until the time is over, alerts are signed with both secrets.',
      ]}
      onConfirm={async () => {
        const { signingSecret } = await request<{ signingSecret: string }>(
          'POST',
          '/ferryhook/v1/alerts/rotate-secret',
          { json: { overlapSeconds: overlapSeconds.value } },
        )
        props.onRotated(signingSecret)
      }}
      onClose={props.onClose}
    >
      <Field label="The old secret stays valid for">
        {(ids) => (
          <select
            {...ids}
            class="select"
            value={String(overlapSeconds.value)}
            onChange={(event) => (overlapSeconds.value = Number(event.currentTarget.value))}
          >
            {OVERLAPS.map(([seconds, name]) => (
              <option value={String(seconds)} key={seconds}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </ConfirmDialog>
  )
}
