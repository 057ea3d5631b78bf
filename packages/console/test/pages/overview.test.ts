import type { OverviewView } from '@strongroom/ferryhook/usage/view'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { type SeededAccount, seedAccount } from '../support/seed-events.ts'

type Overview = z.infer<typeof OverviewView>

describeConsole(
  'the overview',
  (site) => {
    let seeded: Promise<SeededAccount> | undefined
    const account = () => (seeded ??= seedAccount(site))

    async function overview(query = ''): Promise<Overview> {
      const { token } = await account()
      return (
        await site.api<Overview>('GET', `/ferryhook/v1/analytics/overview${query}`, { token })
      ).body
    }

    async function open(path = '/overview', options = {}): Promise<Page> {
      const { email } = await account()
      const page = await site.signedIn({ email, ...options })
      await site.open(page, path)
      await page.getByRole('heading', { name: 'Sources', level: 2 }).waitFor()
      return page
    }

    const tile = (page: Page, name: string) => page.locator('.stat', { hasText: name })
    const plot = (page: Page, title: string) => page.getByRole('slider', { name: title })
    const drawn = async (page: Page) => {
      await page.locator('.u-over').nth(2).waitFor()
    }
    const parameters = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

    test('shows the figures that the API returns', async () => {
      const page = await open()
      const { events, successRate, buckets, sources, connections } = await overview()
      expect(events.total).toBeGreaterThan(80)
      expect(await tile(page, 'Events').locator('.stat-figure').textContent()).toBe(
        String(events.total),
      )
      const percent = Math.floor((successRate ?? 0) * 10_000) / 100
      expect(await tile(page, 'Success rate').textContent()).toContain(`${percent} %`)
      expect(await tile(page, 'Waiting').textContent()).toContain('1 retrying')
      const legends = await page.locator('.legend').allTextContents()
      expect(legends[0]).toContain(`Delivered ${events.byStatus.delivered}`)
      expect(legends[1]).toBe(
        `Failed ${events.byStatus.failed}Signature failed ${events.byStatus.signature_failed}Retrying 1`,
      )
      await page.getByRole('button', { name: 'Show as table' }).first().click()
      const rows = page
        .getByRole('region', { name: 'Events by status, as a table' })
        .locator('tbody tr')
      const shown = await rows.evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent))),
      )
      expect(shown).toEqual(
        buckets.map(({ events: { byStatus: counts } }) => [
          counts.delivered,
          counts.failed,
          counts.signature_failed,
          counts.retrying,
        ]),
      )
      await page.getByRole('button', { name: 'Show as chart' }).click()
      const stripe = sources.find(({ name }) => name === 'Stripe production')
      const row = page.getByRole('row', { name: 'Stripe production' })
      expect(await row.textContent()).toContain(String(stripe?.events.total))
      expect(await page.getByText(`2 of ${connections.total} connections`).count()).toBe(1)
    })

    test('puts problems first, in words and with the way out', async () => {
      const page = await open()
      const panel = page.getByRole('region', { name: 'Needs attention' })
      const items = await panel.getByRole('listitem').allTextContents()
      expect(items).toHaveLength(3)
      expect(items[0]).toContain('4 events could not be verified')
      expect(items[1]).toMatch(/Data warehouse.*Failing.*12 failed attempts/)
      expect(items[2]).toMatch(/Ops channel.*Paused.*Paused by hand/)
      await page.setViewportSize({ width: 360, height: 800 })
      const [attention, chart] = await Promise.all([
        panel.boundingBox(),
        page.getByRole('region', { name: 'Events by status' }).boundingBox(),
      ])
      expect(attention?.y).toBeLessThan(chart?.y ?? 0)
    })

    test('leads from each figure to the events behind it', async () => {
      const page = await open()
      const { from, to } = await overview()
      const { connections, sources } = await account()
      const href = async (link: ReturnType<Page['locator']>) => {
        const url = new URL((await link.getAttribute('href')) ?? '', site.origin)
        const found = Object.fromEntries(url.searchParams)
        expect(url.pathname).toBe('/console/events')
        expect(found['from']).toBe(from)
        expect(Math.abs(Date.parse(found['to'] ?? '') - Date.parse(to))).toBeLessThan(60_000)
        return { ...found, from: undefined, to: undefined }
      }
      expect(await href(tile(page, 'Events').first())).toEqual({})
      expect(await href(tile(page, 'Success rate'))).toEqual({ status: 'failed' })
      expect(await href(tile(page, 'Waiting'))).toEqual({ status: 'retrying' })
      const legend = page.locator('.legend').getByRole('link', { name: 'Signature failed' })
      expect(await href(legend)).toEqual({ status: 'signature_failed' })
      const attention = page.getByRole('listitem').filter({ hasText: 'Data warehouse' })
      expect(await href(attention.getByRole('link', { name: 'See its events' }))).toEqual({
        status: 'failed,retrying',
        connection: connections.failing,
      })
      const row = page.getByRole('row', { name: 'GitHub acme/shop' })
      expect(await href(row.getByRole('link', { name: '4', exact: true }))).toEqual({
        source: sources.github,
      })
      await tile(page, 'Success rate').click()
      await page.waitForURL('**/console/events?**')
    })

    test('keeps period and source in the address', async () => {
      const page = await open()
      await page.getByRole('button', { name: '7 d', exact: true }).click()
      await page.getByText('Six hours in each column').waitFor()
      const { sources } = await account()
      await page.getByLabel('Source').first().selectOption(sources.github)
      await page.waitForURL('**source=**')
      expect(parameters(page)).toEqual({ period: '7d', source: sources.github })
      const figure = tile(page, 'Events').first().locator('.stat-figure')
      await figure.getByText('4', { exact: true }).waitFor()
      await page.reload()
      await figure.getByText('4', { exact: true }).waitFor()
      expect(await page.getByLabel('Source').first().inputValue()).toBe(sources.github)
      await page.goBack()
      await page.getByRole('row', { name: 'Stripe production' }).waitFor()
      expect(parameters(page)).toEqual({ period: '7d' })
      await site.open(page, '/overview?period=nonsense')
      await page.getByText('One hour in each column').waitFor()
    })

    test('moves one cursor through all charts with the arrow keys and opens the events of a point', async () => {
      const page = await open()
      await drawn(page)
      const events = plot(page, 'Events by status')
      await events.focus()
      await page.keyboard.press('End')
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('ArrowLeft')
      const { buckets } = await overview()
      const counts = buckets.at(-3)?.events.byStatus
      expect(await events.getAttribute('aria-valuenow')).toBe(String(buckets.length - 3))
      expect(await events.getAttribute('aria-valuetext')).toContain(
        `Delivered ${counts?.delivered}, Failed ${counts?.failed}, `,
      )
      const tips = page.locator('.chart-tip')
      expect(await tips.count()).toBe(2)
      expect(await tips.first().textContent()).toContain(`${counts?.delivered} delivered`)
      expect(await tips.last().textContent()).toMatch(/p50 \d+ ms/)
      await page.keyboard.press('Escape')
      expect(await tips.count()).toBe(0)
      await page.keyboard.press('Home')
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/console/events?**')
      const { from = '', to = '' } = parameters(page)
      expect(from).toBe(buckets[1]?.startsAt)
      expect(Date.parse(to) - Date.parse(from)).toBe(3_600_000 - 1)
    })

    test('opens the events of the time that is dragged, or of the column that is clicked', async () => {
      const page = await open()
      await drawn(page)
      const { buckets } = await overview()
      const box = await plot(page, 'Events by status').boundingBox()
      if (!box) throw new Error('There is no chart')
      const at = (column: number) => box.x + (box.width * (column + 0.5)) / buckets.length
      const y = box.y + box.height / 2
      await page.mouse.move(at(3), y)
      await page.mouse.down()
      await page.mouse.move(at(5), y, { steps: 5 })
      await page.mouse.up()
      await page.waitForURL('**/console/events?**')
      expect(parameters(page)['from']).toBe(buckets[3]?.startsAt)
      expect(Date.parse(parameters(page)['to'] ?? '')).toBe(
        Date.parse(buckets[6]?.startsAt ?? '') - 1,
      )
      await page.goBack()
      await drawn(page)
      await page.mouse.click(at(4), y)
      await page.waitForURL('**/console/events?**')
      expect(parameters(page)['from']).toBe(buckets[4]?.startsAt)
    })

    test('pauses and resumes a connection, and takes it back', async () => {
      const page = await open()
      const { connections, token } = await account()
      const status = async () =>
        (
          await site.api<{ status: string }>(
            'GET',
            `/ferryhook/v1/connections/${connections.failing}`,
            { token },
          )
        ).body.status
      const item = page.getByRole('listitem').filter({ hasText: 'Data warehouse' })
      await item.getByRole('button', { name: 'Pause Data warehouse' }).click()
      await page.getByText('Data warehouse is paused. Its events are held.').waitFor()
      expect(await status()).toBe('paused')
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Data warehouse delivers again.').waitFor()
      expect(await status()).toBe('active')
      // Resuming forgets the failures, which the other tests look at.
      seeded = undefined
    })

    test('shows the same colours as the tokens, in light and dark', async () => {
      const page = await open()
      await drawn(page)
      const column = () =>
        page.evaluate(() => {
          const canvas = document.querySelector('canvas')
          const copy = document.createElement('canvas').getContext('2d', {
            willReadFrequently: true,
          })
          if (!canvas || !copy) return ''
          const x = Math.round((canvas.width * 4.5) / 25)
          copy.drawImage(canvas, -x, 6 - canvas.height)
          return [...copy.getImageData(0, 0, 1, 1).data].join(' ')
        })
      expect(await column()).toBe('165 211 195 255')
      await page.emulateMedia({ colorScheme: 'dark' })
      await expect.poll(column).toBe('29 84 67 255')
    })

    test('is accessible and fits, on a phone and in the dark', async () => {
      const page = await open()
      await drawn(page)
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'overview')
      await page.getByRole('button', { name: 'Show as table' }).first().click()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'overview-table')
    })

    test('leads a new account to its first source', async () => {
      const page = await site.signedIn()
      await site.open(page, '/overview')
      await page.getByRole('heading', { name: 'Receive your first webhook' }).waitFor()
      expect(await page.locator('.seg').count()).toBe(0)
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'first-run')
      await page.getByRole('link', { name: 'Create a source' }).click()
      await page.waitForURL('**/console/sources/new')
    })

    test('says why it cannot load, and loads by itself when the server is back', async () => {
      const page = await open('/overview')
      const restart = await site.interrupt()
      await page.getByRole('button', { name: '7 d', exact: true }).click()
      // The old figures stay.
      await page.getByText(/^Figures of/).waitFor()
      expect(await tile(page, 'Events').count()).toBeGreaterThan(0)
      await restart()
      await page.getByText('Six hours in each column').waitFor()
      expect(await page.getByText(/^Figures of/).count()).toBe(0)
    })

    test('names a source that does not exist', async () => {
      const { email } = await account()
      const page = await site.signedIn({ email })
      await site.open(page, '/overview?source=src_0000000000000000')
      const heading = page.getByRole('heading', { name: 'Source not found' })
      await expect.poll(() => heading.count()).toBe(1)
    })
  },
  { FERRYHOOK_DELIVER: 'false' },
)
