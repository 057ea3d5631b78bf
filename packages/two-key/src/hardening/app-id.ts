/** Whose request it is: a secret that two apps share by mistake must not let one speak for the other. */
import { own } from '../payload/json.ts'
import type { CheckedPayload, UninstallPayload } from '../payload/payload.ts'

/** Slack leaves the app's id out of shortcuts and of what is left of dialogs and attachments. */
const WITHOUT_APP_ID = new Set([
  'dialog_cancellation',
  'dialog_submission',
  'dialog_suggestion',
  'interactive_message',
  'message_action',
  'shortcut',
  'workflow_step_edit',
])

export function isOfApp({ type, body }: CheckedPayload | UninstallPayload, appId: string): boolean {
  const named = own(body, 'api_app_id')
  return named === appId || (named === undefined && WITHOUT_APP_ID.has(type))
}
