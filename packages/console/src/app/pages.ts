/** Every page of the console: its address, who may see it, and where its code is. */
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { operator } from './api/operator-session.ts'
import { user } from './api/user-session.ts'
import type { IconName } from './parts/icon.tsx'
import { matchPath } from './router.ts'

/** The two kinds of people, each with a navigation of its own. */
export type Side = 'user' | 'operator'

export interface PageProps {
  /** The parameters of the address, such as the id of a source. */
  params: Readonly<Record<string, string>>
}

export interface PageEntry {
  /** Below `/console`, such as `/sources/:id`. */
  path: string
  title: string
  /** `anyone` has no navigation: signing in and up. */
  side: Side | 'anyone'
  /** The heading of its group in the navigation. */
  group: string
  /** Pages without an icon are not in the navigation. */
  icon?: IconName
  /** The service that must run, and to which an operator needs access. */
  service?: string
  load: () => Promise<{ default: ComponentType<PageProps> }>
}

const FERRYHOOK = { side: 'user', group: '', service: 'ferryhook' } as const
const ACCOUNT = { side: 'user', group: 'Account', service: 'ferryhook' } as const
const GATE = { side: 'anyone', group: '' } as const
const SERVER = { side: 'operator', group: 'Server' } as const
const ACCOUNTS = { side: 'operator', group: 'Ferryhook', service: 'ferryhook' } as const
const SITES = { side: 'operator', group: 'Form-Bridge', service: 'form-bridge' } as const
const OTHERS = { side: 'operator', group: 'Other services' } as const

/** The first match wins, so `/sources/new` is before `/sources/:id`. */
export const pages: readonly PageEntry[] = [
  { ...GATE, path: '/', title: 'Console', load: () => import('./pages/start/page.tsx') },
  {
    ...GATE,
    path: '/sign-in',
    title: 'Sign in',
    load: () => import('./pages/sign-in/sign-in.tsx'),
  },
  {
    ...GATE,
    path: '/sign-up',
    title: 'Sign up',
    load: () => import('./pages/sign-in/sign-up.tsx'),
  },
  {
    ...GATE,
    path: '/forgotten',
    title: 'Forgotten password',
    load: () => import('./pages/sign-in/forgotten.tsx'),
  },
  {
    ...GATE,
    path: '/reset',
    title: 'New password',
    load: () => import('./pages/sign-in/reset.tsx'),
  },
  {
    ...GATE,
    path: '/verify-email',
    title: 'Verify e-mail',
    load: () => import('./pages/sign-in/verify-email.tsx'),
  },

  {
    ...FERRYHOOK,
    path: '/overview',
    title: 'Overview',
    icon: 'overview',
    load: () => import('./pages/overview/page.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/events',
    title: 'Events',
    icon: 'events',
    load: () => import('./pages/events/page.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/events/:id',
    title: 'Event',
    load: () => import('./pages/events/page.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/sources',
    title: 'Sources',
    icon: 'sources',
    load: () => import('./pages/sources/list.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/sources/new',
    title: 'New source',
    load: () => import('./pages/sources/new.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/sources/:id',
    title: 'Source',
    load: () => import('./pages/sources/source.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/connections',
    title: 'Connections',
    icon: 'connections',
    load: () => import('./pages/connections/list.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/connections/new',
    title: 'New connection',
    load: () => import('./pages/connections/new.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/connections/:id/:tab?',
    title: 'Connection',
    load: () => import('./pages/connections/connection.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/replays',
    title: 'Replays',
    icon: 'replay',
    load: () => import('./pages/replays/list.tsx'),
  },
  {
    ...FERRYHOOK,
    path: '/replays/:id',
    title: 'Replay',
    load: () => import('./pages/replays/replay.tsx'),
  },
  {
    ...ACCOUNT,
    path: '/alerts',
    title: 'Alerts',
    icon: 'alerts',
    load: () => import('./pages/alerts/page.tsx'),
  },
  {
    ...ACCOUNT,
    path: '/api-keys',
    title: 'API keys',
    icon: 'key',
    load: () => import('./pages/api-keys/page.tsx'),
  },
  {
    ...ACCOUNT,
    path: '/usage',
    title: 'Usage',
    icon: 'usage',
    load: () => import('./pages/usage/page.tsx'),
  },
  {
    ...ACCOUNT,
    path: '/audit',
    title: 'Audit log',
    icon: 'audit',
    load: () => import('./pages/audit/page.tsx'),
  },
  {
    ...ACCOUNT,
    path: '/account/:part?',
    title: 'Account',
    load: () => import('./pages/account/page.tsx'),
  },

  {
    ...SERVER,
    group: '',
    path: '/server',
    title: 'Overview',
    icon: 'server',
    load: () => import('./pages/server-overview/page.tsx'),
  },
  {
    ...ACCOUNTS,
    path: '/server/accounts',
    title: 'Accounts',
    icon: 'people',
    load: () => import('./pages/accounts/list.tsx'),
  },
  {
    ...ACCOUNTS,
    path: '/server/accounts/:id',
    title: 'Account',
    load: () => import('./pages/accounts/account.tsx'),
  },
  {
    ...ACCOUNTS,
    path: '/server/failing',
    title: 'Failing connections',
    icon: 'connections',
    load: () => import('./pages/failing/page.tsx'),
  },
  {
    ...SITES,
    path: '/server/sites',
    title: 'Sites',
    icon: 'sites',
    load: () => import('./pages/sites/page.tsx'),
  },
  {
    ...SITES,
    path: '/server/registrations',
    title: 'Registrations',
    icon: 'inbox',
    load: () => import('./pages/registrations/page.tsx'),
  },
  {
    ...SITES,
    path: '/server/agencies',
    title: 'Agencies',
    icon: 'agencies',
    load: () => import('./pages/agencies/list.tsx'),
  },
  {
    ...SITES,
    path: '/server/agencies/:id',
    title: 'Agency',
    load: () => import('./pages/agencies/agency.tsx'),
  },
  {
    ...SITES,
    path: '/server/releases',
    title: 'Releases',
    icon: 'releases',
    load: () => import('./pages/releases/page.tsx'),
  },
  {
    ...SITES,
    path: '/server/security-events',
    title: 'Security events',
    icon: 'shield',
    load: () => import('./pages/security-events/page.tsx'),
  },
  {
    ...SITES,
    path: '/server/limits',
    title: 'Limits',
    icon: 'sliders',
    load: () => import('./pages/limits/page.tsx'),
  },
  {
    ...OTHERS,
    service: 'key-store',
    path: '/server/keys',
    title: 'Key store',
    icon: 'key',
    load: () => import('./pages/keys/page.tsx'),
  },
  {
    ...OTHERS,
    service: 'two-key',
    path: '/server/slack/:app?',
    title: 'Two-key',
    icon: 'two-key',
    load: () => import('./pages/slack/page.tsx'),
  },
  {
    ...OTHERS,
    service: 'sealed',
    path: '/server/sealed',
    title: 'Sealed',
    icon: 'sealed',
    load: () => import('./pages/sealed/page.tsx'),
  },
  {
    ...SERVER,
    path: '/server/operators',
    title: 'Operators',
    icon: 'person',
    load: () => import('./pages/operators/page.tsx'),
  },
  {
    ...SERVER,
    path: '/server/security',
    title: 'Your sign-in',
    load: () => import('./pages/operator-sign-in/page.tsx'),
  },
  {
    ...SERVER,
    path: '/server/audit',
    title: 'Audit log',
    icon: 'audit',
    load: () => import('./pages/server-audit/page.tsx'),
  },
  {
    ...SERVER,
    path: '/server/jobs/:id?',
    title: 'Jobs',
    icon: 'jobs',
    load: () => import('./pages/jobs/page.tsx'),
  },
  {
    ...SERVER,
    path: '/server/settings',
    title: 'Settings',
    icon: 'sliders',
    load: () => import('./pages/settings/page.tsx'),
  },
  {
    ...SERVER,
    path: '/server/secrets',
    title: 'Server secrets',
    icon: 'lock',
    load: () => import('./pages/secrets/page.tsx'),
  },
]

export interface Match {
  entry: PageEntry
  params: Record<string, string>
}

export function findPage(path: string): Match | undefined {
  for (const entry of pages) {
    const params = matchPath(entry.path, path)
    if (params) return { entry, params }
  }
  return undefined
}

/** The services that run on this server; undefined until they are known. */
export const runningServices = signal<readonly string[] | undefined>(undefined)

/** The address of an entry in the navigation, without its optional parameters. */
export function addressOf({ path }: PageEntry): string {
  return path.replace(/\/:\w+\?$/, '')
}

function isReachable({ service, side }: PageEntry): boolean {
  if (service === undefined) return true
  if (runningServices.value && !runningServices.value.includes(service)) return false
  const limit = side === 'operator' ? operator.value?.services : undefined
  return limit === undefined || limit === null || limit.includes(service)
}

/** The navigation of one side: groups in the order of the table. */
export function groupsOf(side: Side): { title: string; pages: PageEntry[] }[] {
  const groups = new Map<string, PageEntry[]>()
  for (const page of pages) {
    if (page.side !== side || page.icon === undefined || !isReachable(page)) continue
    const group = groups.get(page.group) ?? []
    group.push({ ...page, path: addressOf(page) })
    groups.set(page.group, group)
  }
  return [...groups].map(([title, entries]) => ({ title, pages: entries }))
}

/** The pages that the signed-in person can go to. */
export function reachablePages(): PageEntry[] {
  const sides: Side[] = [
    ...(user.value ? ['user' as const] : []),
    ...(operator.value ? ['operator' as const] : []),
  ]
  return sides.flatMap((side) => groupsOf(side).flatMap(({ pages: entries }) => entries))
}

const ID_PAGES: readonly (readonly [pattern: RegExp, address: string])[] = [
  [/^evt_[\w-]+$/, '/events/'],
  [/^src_[\w-]+$/, '/sources/'],
  [/^conn_[\w-]+$/, '/connections/'],
  [/^rpl_[\w-]+$/, '/replays/'],
  [/^usr_[\w-]+$/, '/server/accounts/'],
  [/^site_[\w-]+$/, '/server/sites?site='],
]

/** Where a pasted id leads. */
export function pageOfId(id: string): string | undefined {
  const address = ID_PAGES.find(([pattern]) => pattern.test(id))?.[1]
  return address === undefined ? undefined : address + id
}
