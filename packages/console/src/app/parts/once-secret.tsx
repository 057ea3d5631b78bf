/** A secret that is shown once: it is not stored in a readable form and never shown again. */
import { Command } from './copy.tsx'
import { Dialog } from './dialog.tsx'

export function OnceSecretDialog(props: {
  title: string
  /** What it is for, and what to do if it is lost. */
  text: string
  secret: string
  onClose: () => void
}) {
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      onSubmit={props.onClose}
      isModalOnly
      foot={
        <button class="button button-primary" type="submit">
          <span>I have stored it</span>
        </button>
      }
    >
      <p>{props.text}</p>
      <Command text={props.secret} plain />
    </Dialog>
  )
}
