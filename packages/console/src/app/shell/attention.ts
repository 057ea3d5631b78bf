/** What needs attention, beside the pages in the navigation: failures of the user, problems of the server. */
import { useEffect } from 'preact/hooks'
import type { z } from 'zod'
import type { OverviewView } from '@strongroom/ferryhook/usage/view'
import type { ServerStatusView } from '@strongroom/server/status/routes'
import { request } from '../api/request.ts'
import type { Side } from '../pages.ts'
import { formatNumber } from '../parts/format.ts'
import { type Badge, badges } from './sidebar.tsx'

const EVERY_MS = 60_000

/** Refreshed while the page is visible. A failure leaves the badges as they are: the page reports it. */
export function useAttention(side: Side): void {
  useEffect(() => {
    const abort = new AbortController()
    const refresh = async () => {
      if (document.visibilityState !== 'visible') return
      try {
        const found =
          side === 'user' ? await userBadges(abort.signal) : await serverBadges(abort.signal)
        if (!abort.signal.aborted) badges.value = { ...badges.value, ...found }
      } catch {
        // Shown by the page itself.
      }
    }
    void refresh()
    const timer = setInterval(() => void refresh(), EVERY_MS)
    return () => {
      clearInterval(timer)
      abort.abort()
    }
  }, [side])
}

const count = (value: number, word: string): Badge | undefined =>
  value > 0 ? { text: `${formatNumber(value)}${word}`, tone: 'bad' } : undefined

async function userBadges(signal: AbortSignal) {
  const { events, connections } = await request<z.infer<typeof OverviewView>>(
    'GET',
    '/ferryhook/v1/analytics/overview',
    { query: { period: '24h' }, signal },
  )
  const { failed, signature_failed: unverified } = events.byStatus
  return {
    '/events': count(failed + unverified, ' failed'),
    '/connections': count(connections.failing, ' failing'),
  }
}

async function serverBadges(signal: AbortSignal) {
  const { problems } = await request<ServerStatusView>('GET', '/server/v1/status', {
    as: 'operator',
    signal,
  })
  const at = (page: string) =>
    count(problems.filter((problem) => problem.page?.startsWith(page)).length, '')
  return {
    '/server': count(problems.length, ''),
    '/server/failing': at('/server/failing'),
    '/server/keys': at('/server/keys'),
    '/server/slack': at('/server/slack'),
  }
}
