/** For an operator without a Ferryhook account: an invite, and the sign-up page opened with it. */
import { missingRole } from '../api/operator-session.ts'
import { request } from '../api/request.ts'
import { user } from '../api/user-session.ts'
import { ActionButton } from './action-button.tsx'
import { Icon } from './icon.tsx'

/** Nothing if the operator is signed in to an account already. */
export function CreateAccount() {
  if (user.value) return null
  const open = async () => {
    const { url } = await request<{ url: string }>('POST', '/ferryhook/v1/invites', {
      as: 'operator',
    })
    // Only the fragment: the public address may be another one than this page's.
    location.assign(`/console/sign-up${new URL(url).hash}`)
  }
  return (
    <ActionButton run={open} notAllowed={missingRole('editor', 'ferryhook')}>
      <Icon name="person" />
      <span>Create my Ferryhook account</span>
    </ActionButton>
  )
}
