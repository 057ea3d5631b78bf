/** Shows the page of the address: with the navigation of a side, or alone. */
import { useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentType } from 'preact'
import { endedSession } from './api/request.ts'
import { operator } from './api/operator-session.ts'
import { user } from './api/user-session.ts'
import { useAttention } from './shell/attention.ts'
import { ErrorBoundary } from './shell/error-boundary.tsx'
import { KeyList } from './shell/key-list.tsx'
import { useKeys } from './shell/keyboard.ts'
import { LeaveDialog } from './shell/leave-dialog.tsx'
import { OfflineStrip } from './shell/offline-strip.tsx'
import { Palette } from './shell/palette.tsx'
import { SessionEnded } from './shell/session-ended.tsx'
import { Sidebar } from './shell/sidebar.tsx'
import { Toasts } from './shell/toasts.tsx'
import { Empty, Loading } from './parts/states.tsx'
import { findPage, type Match, type PageProps, type Side } from './pages.ts'
import { navigate, path, query, withQuery } from './router.ts'

/** Keys that go to a page, after `g`. */
const GO_TO: Record<string, string> = {
  o: '/overview',
  e: '/events',
  s: '/sources',
  c: '/connections',
  r: '/replays',
  a: '/audit',
  v: '/server',
  k: '/server/keys',
  w: '/server/slack',
}

const SETUP = '/server/security'

export function App() {
  const match = findPage(path.value)
  useKeys(
    Object.entries(GO_TO).map(([key, to]) => ({
      keys: `g ${key}`,
      label: `Go to ${findPage(to)?.entry.title ?? to}`,
      run: () => navigate(to),
    })),
  )
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      {match?.entry.side === 'anyone' ? <Page match={match} /> : <Framed match={match} />}
      <Toasts />
      <Palette />
      <KeyList />
      <LeaveDialog />
      {endedSession.value && <SessionEnded side={endedSession.value} />}
    </>
  )
}

function Framed({ match }: { match: Match | undefined }) {
  const wanted = match?.entry.side
  const side: Side =
    wanted === 'operator' || wanted === 'user' ? wanted : operator.value ? 'operator' : 'user'
  const isSignedIn = side === 'user' ? user.value !== undefined : operator.value !== undefined
  useSignalEffect(() => {
    const hasSession = side === 'user' ? user.value : operator.value
    if (hasSession || endedSession.value) return
    const next = withQuery(path.value, query.value)
    const parameters = new URLSearchParams({ next, ...(side === 'operator' && { as: 'operator' }) })
    navigate(withQuery('/sign-in', parameters), { replace: true, force: true })
  })
  useSignalEffect(() => {
    // The session can do nothing else until the second factor that the server requires is set up.
    if (side !== 'operator' || !operator.value?.isLimited || path.value === SETUP) return
    navigate(SETUP, { replace: true, force: true })
  })
  if (!isSignedIn && !endedSession.value) return null
  return (
    <div class="app">
      <Attention side={side} key={side} />
      <Sidebar side={side} />
      <div class="main">
        <OfflineStrip />
        {match ? <Page match={match} /> : <UnknownPage />}
      </div>
    </div>
  )
}

function Attention({ side }: { side: Side }) {
  useAttention(side)
  return null
}

function UnknownPage() {
  return (
    <main id="main">
      <Empty glyph="none" title="There is no page at this address" />
    </main>
  )
}

type Loaded = { entry: Match['entry']['load']; Component: ComponentType<PageProps> }

/** Loads the code of the page; the page before stays visible until it is there. */
function Page({ match }: { match: Match }) {
  const { load } = match.entry
  const loaded = useSignal<Loaded | undefined>(undefined)
  const hasFailed = useSignal(false)
  const wanted = useSignal(load)
  wanted.value = load
  useSignalEffect(() => {
    const entry = wanted.value
    hasFailed.value = false
    const show = async () => {
      try {
        const { default: Component } = await entry()
        if (wanted.peek() === entry) loaded.value = { entry, Component }
      } catch {
        if (wanted.peek() === entry) hasFailed.value = true
      }
    }
    void show()
  })
  if (hasFailed.value) return <NotLoaded />
  const current = loaded.value
  if (current?.entry !== load)
    return (
      <main id="main">
        <Loading />
      </main>
    )
  const { Component } = current
  return (
    <ErrorBoundary key={match.entry.path}>
      <Component params={match.params} />
    </ErrorBoundary>
  )
}

/** The server was upgraded and no longer has the files of this version, or it cannot be reached. */
function NotLoaded() {
  return (
    <main id="main">
      <Empty
        glyph="failed"
        title="This page could not be loaded"
        actions={
          <button class="button button-primary" type="button" onClick={() => location.reload()}>
            <span>Reload</span>
          </button>
        }
      >
        The server cannot be reached, or it was upgraded since this page was opened.
      </Empty>
    </main>
  )
}
