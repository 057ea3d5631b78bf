/** The secret that deliveries are signed with: rotate it with an overlap; the new one is shown once. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { type Connection, V1 } from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { OverlapField } from '../sources/source-dialogs.tsx'

const DEFAULT_OVERLAP = 86_400

export function Secret({ connection }: { connection: Connection }) {
  const isRotating = useSignal(false)
  const secret = useSignal<string | undefined>(undefined)
  return (
    <div class="page page-narrow">
      <section class="panel" aria-labelledby="h-secret">
        <div class="panel-head">
          <h2 id="h-secret">Signing secret</h2>
          <span class="push" />
          <button class="button" type="button" onClick={() => (isRotating.value = true)}>
            <Icon name="key" />
            <span>Rotate secret…</span>
          </button>
        </div>
        <div class="panel-body form">
          <p>
            Every delivery is signed as Standard Webhooks defines it, in the header
            Webhook-Signature. Your destination verifies it with the secret that was shown when the
            connection was created. It is stored encrypted and not shown here again.
          </p>
          <p class="hint">
            If it is lost, rotate it: during the overlap deliveries carry the signatures of both
            secrets, so nothing is refused while you change your destination.
          </p>
          <Command
            text={`strongroom connections rotate '${connection.name.replaceAll("'", "'\\''")}'`}
          />
        </div>
      </section>
      {isRotating.value && (
        <RotateDialog
          connection={connection}
          onClose={() => (isRotating.value = false)}
          onRotated={(made) => (secret.value = made)}
        />
      )}
      {secret.value !== undefined && (
        <OnceSecretDialog
          title="The new signing secret"
          text="Store it at your destination. It is shown only now."
          secret={secret.value}
          onClose={() => (secret.value = undefined)}
        />
      )}
    </div>
  )
}

function RotateDialog(props: {
  connection: Connection
  onClose: () => void
  onRotated: (secret: string) => void
}) {
  const { connection, onClose, onRotated } = props
  const overlapSeconds = useSignal(DEFAULT_OVERLAP)
  const problem = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const rotate = async () => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      const path = `${V1}/connections/${connection.id}/rotate-secret`
      const json = { overlapSeconds: overlapSeconds.value }
      const { signingSecret } = await request<{ signingSecret: string }>('POST', path, { json })
      onClose()
      onRotated(signingSecret)
    } catch (error) {
      problem.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog
      title="Rotate the signing secret"
      onClose={onClose}
      onSubmit={() => void rotate()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Keep current secret</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Rotate secret</span>
          </button>
        </>
      }
    >
      <p>A new secret is made. Deliveries are signed with both until the current one ends.</p>
      <OverlapField
        value={overlapSeconds.value}
        onChange={(seconds) => (overlapSeconds.value = seconds)}
      />
      {problem.value !== undefined && <Problem>{problem.value}</Problem>}
    </Dialog>
  )
}
