/** Ends a session here and in the other tabs of this browser, and tells them about a new one. */
import { navigate } from '../router.ts'
import { operator } from './operator-session.ts'
import { request } from './request.ts'
import { forgetSession } from './user-session.ts'

type Side = 'user' | 'operator'

const signedOut = new BroadcastChannel('strongroom-sign-out')
const signedIn = new BroadcastChannel('strongroom-sign-in')

export async function signOut(side: Side): Promise<void> {
  if (side === 'user') await request('POST', '/ferryhook/v1/auth/logout', { as: 'nobody' })
  else await request('DELETE', '/server/v1/session', { as: 'nobody' })
  announce(signedOut, side)
  leave(side)
}

/** For tabs whose session ended. */
export function announceSignIn(side: Side): void {
  announce(signedIn, side)
}

/** Returns how to stop. */
export function onSignIn(run: (side: Side) => void): () => void {
  const listen = ({ data }: MessageEvent) => {
    if (data === 'user' || data === 'operator') run(data)
  }
  signedIn.addEventListener('message', listen)
  return () => signedIn.removeEventListener('message', listen)
}

function announce(channel: BroadcastChannel, side: Side): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target
  channel.postMessage(side)
}

function leave(side: Side): void {
  if (side === 'user') {
    forgetSession()
    // Drafts are not for whoever uses this tab next.
    sessionStorage.clear()
  } else operator.value = undefined
  navigate('/sign-in', { force: true })
}

export function followSignOut(): void {
  signedOut.addEventListener('message', ({ data }) => {
    if (data === 'user' || data === 'operator') leave(data)
  })
}
