/** Where the account is signed in, and ending what one does not recognise. */
import type { AccountSessionView } from '@strongroom/ferryhook/accounts/sessions/account-routes'
import { request } from '../../api/request.ts'
import { signOut } from '../../api/sign-out.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatCount } from '../../parts/format.ts'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'

const PATH = '/ferryhook/v1/account/sessions'

export function Sessions() {
  const sessions = useResource((signal) =>
    request<{ items: AccountSessionView[] }>('GET', PATH, { signal }),
  )
  const end = async ({ id, current }: AccountSessionView) => {
    if (current) return signOut('user')
    await request('DELETE', `${PATH}/${encodeURIComponent(id)}`)
    showToast({ text: 'The session has ended' })
    sessions.reload()
  }
  const endOthers = async () => {
    const { ended } = await request<{ ended: number }>('DELETE', PATH)
    showToast({ text: `${formatCount(ended, 'session')} ended` })
    sessions.reload()
  }
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>Sessions</h2>
        <p>End what you do not recognise, then change your password.</p>
        <span class="push">
          <ActionButton run={endOthers} small>
            <span>End all others</span>
          </ActionButton>
        </span>
      </div>
      <Loaded resource={sessions} what="sessions">
        {({ items }) => (
          <ul class="account-list">
            {items.map((session) => (
              <li class="account-row" key={session.id}>
                <div class="account-main">
                  <span class="strong">{browserOf(session.userAgent)}</span>
                  {session.current && (
                    <Status status="active" look="badge">
                      This session
                    </Status>
                  )}
                  <p class="faint small" title={session.userAgent ?? undefined}>
                    {session.address ?? 'Unknown address'} · used{' '}
                    <RelativeTime time={session.lastUsedAt} suffix=" ago" /> · signed in{' '}
                    <RelativeTime time={session.createdAt} suffix=" ago" />
                  </p>
                </div>
                <ActionButton
                  run={() => end(session)}
                  small
                  label={`${session.current ? 'Sign out of' : 'End the session in'} ${browserOf(session.userAgent)}`}
                >
                  <span>{session.current ? 'Sign out' : 'End'}</span>
                </ActionButton>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  )
}

const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** `Firefox on Linux`, as far as the header reveals it. */
function browserOf(userAgent: string | null): string {
  const find = (list: typeof BROWSERS) =>
    list.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1]
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)]
  if (browser === undefined) return userAgent?.slice(0, 40) ?? 'Unknown browser'
  return system === undefined ? browser : `${browser} on ${system}`
}
