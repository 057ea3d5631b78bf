import { createReplayRunner } from '@strongroom/ferryhook/replays/runner'
import { silentLog } from '@strongroom/kit/log'
import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { type SeededAccount, seedAccount } from '../support/seed-events.ts'
import { storesOn } from '../../../ferryhook/test/support/test-stores.ts'

describeConsole(
  'replays',
  (site) => {
    let seeded: Promise<SeededAccount> | undefined
    const account = () => (seeded ??= seedAccount(site))

    async function startReplay(json: object = {}): Promise<string> {
      const { token, sources } = await account()
      const from = new Date(Date.now() - 20 * 3_600_000).toISOString()
      const { body } = await site.api<{ id: string }>('POST', '/ferryhook/v1/replays', {
        token,
        json: { sourceId: sources.stripe, from, ...json },
      })
      return body.id
    }

    /** The server of these tests delivers nothing by itself. */
    const runStep = () =>
      createReplayRunner({
        stores: storesOn(site.db, site.clock),
        clock: site.clock,
        startTimer: () => () => {},
        log: silentLog,
        onReplayed: () => {},
      }).runOnce()

    test('a replay is listed, opened and cancelled, and says what remains', async () => {
      const { email, token } = await account()
      const id = await startReplay({ status: 'failed', type: 'invoice.*' })
      const page = await site.signedIn({ email })
      await site.open(page, '/replays')
      const row = page.getByRole('row', { name: 'Stripe production' })
      expect(await row.textContent()).toContain('Failed events of type invoice.*')
      expect(await row.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('0')
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'replays')
      await row.getByRole('link').click()
      await page.waitForURL(`**/console/replays/${id}`)
      await page.getByText('Has just started').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'replay')
      await page.getByRole('button', { name: 'Cancel replay…' }).click()
      await page.getByText('No further events are replayed').waitFor()
      await page.getByRole('button', { name: 'Cancel replay', exact: true }).click()
      await page.locator('main').getByText('Cancelled').waitFor()
      const path = `/ferryhook/v1/replays/${id}`
      const { body } = await site.api<{ state: string }>('GET', path, { token })
      expect(body.state).toBe('cancelled')
      expect(await page.getByRole('button', { name: 'Cancel replay…' }).count()).toBe(0)
    })

    test('a replay shows its progress while it runs', async () => {
      const { email } = await account()
      const id = await startReplay({ perSecond: 5 })
      const page = await site.signedIn({ email })
      await site.open(page, `/replays/${id}`)
      await page.getByText('Has just started').waitFor()
      await runStep()
      await page.getByText(/^Ends in about/).waitFor()
      const progress = Number(await page.getByRole('progressbar').getAttribute('aria-valuenow'))
      expect(progress).toBeGreaterThan(0)
      expect(progress).toBeLessThan(100)
      expect(await page.locator('.stat').first().textContent()).toMatch(/[1-9]/)
    })

    test('an account without replays learns what they are for', async () => {
      const page = await site.signedIn()
      await site.open(page, '/replays')
      await page.getByRole('heading', { name: 'No replays in the last 30 days' }).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await page.getByRole('link', { name: 'See failed events' }).click()
      await page.waitForURL('**/console/events?status=failed')
    })

    test('a replay that does not exist is named', async () => {
      const page = await site.signedIn()
      await site.open(page, '/replays/rpl_0000000000000000')
      const heading = page.getByRole('heading', { name: 'Replay not found' })
      await expect.poll(() => heading.count()).toBe(1)
    })
  },
  { FERRYHOOK_DELIVER: 'false' },
)
