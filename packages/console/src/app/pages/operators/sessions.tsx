/** Sessions of operators in the console, each with a button that ends it. */
import { useSignal } from '@preact/signals'
import type { SessionView } from '@strongroom/server/sessions/view'
import { request } from '../../api/request.ts'
import { Command } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import type { Resource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'

export async function listSessions(
  operator: string | undefined,
  signal: AbortSignal,
): Promise<SessionView[]> {
  const options = { as: 'operator', query: { operator }, signal } as const
  return (await request<{ items: SessionView[] }>('GET', '/server/v1/sessions', options)).items
}

export function SessionsPanel(props: { sessions: Resource<SessionView[]>; command: string }) {
  const { sessions } = props
  const ended = useSignal<SessionView | undefined>(undefined)
  return (
    <section class="panel" aria-labelledby="sessions">
      <div class="panel-head">
        <h2 id="sessions">Sessions</h2>
        <p>Each lasts 12 hours at most</p>
      </div>
      <Loaded resource={sessions} what="sessions">
        {(items) =>
          items.length === 0 ? (
            <p class="panel-body soft">No sessions. Nobody is signed in to the console.</p>
          ) : (
            <SessionTable sessions={items} onEnd={(session) => (ended.value = session)} />
          )
        }
      </Loaded>
      <div class="panel-foot">
        <Command text={props.command} />
      </div>
      {ended.value && (
        <EndDialog
          session={ended.value}
          onEnded={() => sessions.reload()}
          onClose={() => (ended.value = undefined)}
        />
      )}
    </section>
  )
}

function SessionTable(props: {
  sessions: readonly SessionView[]
  onEnd: (session: SessionView) => void
}) {
  return (
    <div class="table-wrap">
      <table class="table table-cards">
        <thead>
          <tr>
            <th scope="col">Browser</th>
            <th scope="col">Address</th>
            <th scope="col">Signed in</th>
            <th scope="col">Last used</th>
            <th scope="col">Ends in</th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.sessions.map((session) => (
            <tr key={session.id}>
              <td class="card-main">
                <b class="strong" title={session.userAgent ?? undefined}>
                  {browserOf(session.userAgent)}
                </b>{' '}
                {session.isCurrent && <span class="tag">This browser</span>}
                <p class="second">
                  {session.secondFactor ? 'With a second factor' : 'Without a second factor'}
                </p>
              </td>
              <td class="mono" data-name="Address">
                {session.address ?? 'unknown'}
              </td>
              <td class="soft" data-name="Signed in">
                <RelativeTime time={session.createdAt} suffix=" ago" />
              </td>
              <td class="soft" data-name="Last used">
                {session.lastUsedAt === null ? (
                  'Never'
                ) : (
                  <RelativeTime time={session.lastUsedAt} suffix=" ago" />
                )}
              </td>
              <td class="soft" data-name="Ends in">
                <RelativeTime time={session.expiresAt} />
              </td>
              <td class="fit right">
                <button
                  class="button button-small button-danger"
                  type="button"
                  aria-label={`End session in ${browserOf(session.userAgent)}…`}
                  onClick={() => props.onEnd(session)}
                >
                  <span>End…</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function EndDialog(props: { session: SessionView; onEnded: () => void; onClose: () => void }) {
  const { id, operator, isCurrent, userAgent } = props.session
  return (
    <ConfirmDialog
      title={isCurrent ? 'End this session?' : `End the session of ${operator}?`}
      confirm="End session"
      keep="Keep session"
      consequences={[
        isCurrent
          ? 'You are signed out of this browser.'
          : `${browserOf(userAgent)} is signed out with its next request.`,
        'The token stays valid: rotate it if it may be stolen.',
      ]}
      onConfirm={async () => {
        await request('DELETE', `/server/v1/sessions/${id}`, { as: 'operator' })
        showToast({ text: 'The session has ended.' })
        props.onEnded()
      }}
      onClose={props.onClose}
    />
  )
}

const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const
const SYSTEMS = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const

/** "Firefox on Linux": enough to recognize one's own. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser'
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? 'A browser'
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1]
  return system === undefined ? browser : `${browser} on ${system}`
}
