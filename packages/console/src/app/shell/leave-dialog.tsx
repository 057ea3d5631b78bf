/** Asks before a page with unsaved changes is left. */
import { Dialog } from '../parts/dialog.tsx'
import { leaveRequest } from '../router.ts'

export function LeaveDialog() {
  const leave = leaveRequest.value
  if (!leave) return null
  const close = () => (leaveRequest.value = undefined)
  const confirm = () => {
    close()
    leave()
  }
  return (
    <Dialog
      title="Leave without saving?"
      onClose={close}
      onSubmit={confirm}
      foot={
        <>
          <button class="button" type="submit">
            <span>Discard changes</span>
          </button>
          <button class="button button-primary" type="button" onClick={close}>
            <span>Keep editing</span>
          </button>
        </>
      }
    >
      <p>Your changes on this page have not been saved.</p>
    </Dialog>
  )
}
