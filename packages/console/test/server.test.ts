import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { startFiguresRecorder } from '@strongroom/server/figures/recorder'
import { createFiguresStore } from '@strongroom/server/figures/store'
import { createBackupRecord } from '@strongroom/server/status/backup'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type ConsoleSite, describeConsole, pageProblems, takeShots } from './support/browser.ts'

/** The figures of a server that was busy for six hours, with errors in the last one. */
async function recordFigures(site: ConsoleSite): Promise<void> {
  const metrics = createMetrics()
  let now = Date.now() - 6 * 3_600_000
  const recorder = startFiguresRecorder({
    store: createFiguresStore(site),
    metrics,
    role: 'worker',
    version: '0.9.2',
    clock: { now: () => now },
    startTimer: () => () => {},
    log: silentLog,
    gauges: async () => ({
      work_due: 40 + (Math.floor(now / 60_000) % 17),
      work_waiting: 120,
      work_overdue: 0,
      strongroom_ferryhook_deliveries_in_hand: 40,
    }),
  })
  for (let minute = 0; minute < 358; minute++) {
    const busy = 20 + Math.round(10 * Math.sin(minute / 60)) + (minute % 7)
    for (let each = 0; each < busy; each++) {
      for (const service of ['ferryhook', 'form-bridge', 'sealed', 'two-key']) {
        if (service !== 'ferryhook' && each % 5 > 0) continue
        const isBad = service === 'two-key' && minute > 290 && each % 2 === 0
        const status = isBad ? 503 : each % 9 === 0 ? 404 : 200
        const durationSeconds = isBad ? 1.4 : 0.001 * (1 + (each % 12))
        metrics.observeHttp({ service, route: '/x', method: 'GET', status, durationSeconds })
      }
    }
    await recorder.flush()
    now += 60_000
  }
}

describeConsole('the overview of operators', (site) => {
  const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

  test('shows problems first, each with the command that fixes it', async () => {
    const at = new Date(Date.now() - 4 * 86_400_000).toISOString()
    await createBackupRecord(site.db).put({ at, bytes: 6.2e9, file: '/backups/one.backup' })
    await recordFigures(site)
    const page = await site.asOperator()
    await site.open(page, '/server')
    const problems = panel(page, 'Problems')
    await problems.getByText('No backup since').waitFor()
    expect(await problems.getByRole('listitem').first().textContent()).toContain(
      'strongroom backup strongroom-',
    )
    await panel(page, 'Services')
      .getByRole('row', { name: /Two-key/ })
      .waitFor()
    await panel(page, 'Requests per minute').waitFor()
    await panel(page, 'Latency, all services').waitFor()
    await panel(page, 'Work')
      .getByText(/worker on/)
      .waitFor()
    await page.getByRole('button', { name: 'Create my Ferryhook account' }).waitFor()
    await page.getByText(/^Updated/).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'server')
    if (process.env['SHOTS'] !== undefined) {
      for (const [width, colorScheme] of [
        [1280, 'light'],
        [1280, 'dark'],
        [360, 'dark'],
      ] as const) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme })
        await page.screenshot({
          path: `${process.env['SHOTS']}/server-full-${width}-${colorScheme}.png`,
          fullPage: true,
        })
      }
    }
  })

  test('keeps the period in the address', async () => {
    const page = await site.asOperator()
    await site.open(page, '/server?period=24h')
    const chosen = page.getByRole('button', { name: '24 h' })
    await chosen.waitFor()
    expect(await chosen.getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: '1 h', exact: true }).click()
    await page.waitForURL('**/console/server?period=1h')
    await panel(page, 'Requests per minute').getByText('One minute in each column.').waitFor()
    await page.goBack()
    await page.waitForURL('**/console/server?period=24h')
  })

  test('says that an operator of one service has no access', async () => {
    const token = await site.addOperator('only-sealed', { role: 'viewer', services: ['sealed'] })
    const page = await site.asOperator({ token })
    await site.open(page, '/server')
    await page.getByText('You have no access to the server').waitFor()
    expect(await pageProblems(page)).toEqual([])
  })

  test('keeps what it has while the server cannot be reached', async () => {
    const page = await site.asOperator()
    await site.open(page, '/server')
    await panel(page, 'Server').waitFor()
    const resume = await site.interrupt()
    await page.getByText(/^Not updated since/).waitFor()
    expect(await panel(page, 'Server').isVisible()).toBe(true)
    await resume()
    await page.getByText(/^Updated/).waitFor()
  })
})

describeConsole(
  'the settings and secrets of the server',
  (site) => {
    test('lists settings with their source, filtered by the address', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/settings')
      const row = page.getByRole('row', { name: /STRONGROOM_RECOVERY_DAYS/ })
      await row.getByText('14', { exact: true }).waitFor()
      await row.getByText('Environment').waitFor()
      expect(await page.getByRole('row', { name: /^STRONGROOM_TOKEN/ }).textContent()).toContain(
        'Not set',
      )
      await takeShots(page, 'settings')
      await page.keyboard.press('/')
      await page.keyboard.type('recovery')
      await page.waitForURL('**/console/server/settings?q=recovery')
      await page.getByRole('row', { name: /^PORT/ }).waitFor({ state: 'detached' })
      await page.reload()
      await row.waitFor()
      expect(await pageProblems(page)).toEqual([])
    })

    test('rotates a secret after it has said what ends', async () => {
      const token = await site.addOperator('rotating')
      await site.api('GET', '/server/v1/audit', { token })
      const page = await site.asOperator({ token })
      await site.open(page, '/server/secrets')
      await page.getByRole('button', { name: 'Rotate server-cursors' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText(/works until the overlap ends/).waitFor()
      await dialog.getByLabel('Older versions are accepted for').selectOption('0')
      await dialog.getByText(/stops working now/).waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'secrets-rotate')
      await dialog.getByRole('button', { name: 'Rotate secret' }).click()
      await page.getByText('server-cursors has version 2').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'secrets')
    })

    test('shows a viewer the secrets and why they cannot be rotated', async () => {
      const admin = await site.addOperator('first')
      await site.api('GET', '/server/v1/audit', { token: admin })
      const token = await site.addOperator('looking', { role: 'viewer' })
      const page = await site.asOperator({ token })
      await site.open(page, '/server/secrets')
      const button = page.getByRole('button', { name: 'Rotate server-cursors' })
      await button.waitFor()
      expect(await button.getAttribute('title')).toContain('requires the role admin')
      await button.click({ force: true })
      expect(await page.getByRole('dialog').count()).toBe(0)
    })
  },
  { STRONGROOM_RECOVERY_DAYS: '14' },
)

describeConsole('the audit log of operators', (site) => {
  async function withChanges() {
    const token = await site.addOperator(`admin-${crypto.randomUUID().slice(0, 8)}`)
    for (const name of ['ann', 'bob', 'eve']) {
      await site.api('POST', '/server/v1/operators', { token, json: { name, role: 'editor' } })
    }
    await site.api('PATCH', '/server/v1/operators/bob', { token, json: { role: 'viewer' } })
    return token
  }

  test('shows what changed, filters by the address, and verifies the chain', async () => {
    const page = await site.asOperator({ token: await withChanges() })
    await site.open(page, '/server/audit')
    const changed = page.getByRole('row', { name: /Operator changed/ })
    await changed.getByText('role: editor').waitFor()
    await changed.getByText('role: viewer').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'server-audit')
    await page.keyboard.press('/')
    await page.keyboard.type('eve')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/server/audit?target=eve')
    await changed.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /Operator added/ }).waitFor()
    await page.getByRole('button', { name: 'Remove filter target' }).click()
    await changed.waitFor()
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('No entry was changed or removed.').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'server-audit-verify')
  })

  test('names the entry that was changed in the store', async () => {
    const token = await withChanges()
    const { body } = await site.api<{ items: { month: string; seq: number }[] }>(
      'GET',
      '/server/v1/audit?limit=2',
      { token },
    )
    const [, entry] = body.items
    await site.db.updateItem({
      TableName: 'strongroom-operations',
      Key: { PK: `AUDIT#${entry?.month}`, SK: String(entry?.seq).padStart(12, '0') },
      UpdateExpression: 'SET actor = :actor',
      ExpressionAttributeValues: { ':actor': 'operator:mallory' },
    })
    const page = await site.asOperator({ token })
    await site.open(page, '/server/audit')
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('Not intact').waitFor()
    const found = page.getByRole('dialog').getByRole('listitem').first()
    expect(await found.textContent()).toContain(`${entry?.month}/${entry?.seq}: `)
  })

  test('downloads what the filter shows', async () => {
    const page = await site.asOperator({ token: await withChanges() })
    await site.open(page, '/server/audit?target=ann')
    await page
      .getByRole('row', { name: /Operator added/ })
      .first()
      .waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download as JSON' }).click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/^strongroom-audit-\d{4}-\d\d-\d\d\.json$/)
  })

  test('is refused to those who are not admins', async () => {
    const token = await site.addOperator('viewing', { role: 'viewer' })
    const page = await site.asOperator({ token })
    await site.open(page, '/server/audit')
    await page.getByText('You have no access to the audit log').waitFor()
    expect(await pageProblems(page)).toEqual([])
  })
})
