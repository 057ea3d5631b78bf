/** `/account`: profile and password, identities, sessions, second factor, export and deletion. */
import { Bar } from '../../shell/bar.tsx'
import { Empty } from '../../parts/states.tsx'
import type { PageProps } from '../../pages.ts'
import { Export } from './export.tsx'
import { Identities } from './identities.tsx'
import { Profile } from './profile.tsx'
import { Security } from './security.tsx'
import { Sessions } from './sessions.tsx'

const PARTS = [
  { part: '', label: 'Profile', Part: Profile },
  { part: 'security', label: 'Second factor', Part: Security },
  { part: 'sessions', label: 'Sessions', Part: Sessions },
  { part: 'identities', label: 'Identities', Part: Identities },
  { part: 'export', label: 'Export and delete', Part: Export },
] as const

export default function Account({ params }: PageProps) {
  const { part: open = '' } = params
  const shown = PARTS.find(({ part }) => part === open)
  return (
    <>
      <Bar title="Account" />
      <nav class="tabs tabs-bar" aria-label="Parts of the account">
        {PARTS.map(({ part, label }) => (
          <a
            class="tab"
            key={part}
            href={part === '' ? '/console/account' : `/console/account/${part}`}
            aria-current={part === open ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <main class="page account" id="main">
        {shown ? <shown.Part /> : <Empty glyph="none" title="There is no page at this address" />}
      </main>
    </>
  )
}
