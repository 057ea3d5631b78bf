import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'

describeConsole('the page of jobs', (site) => {
  test('says what a job is while there are none, and exports the audit log as a download', async () => {
    const page = await site.asOperator()
    await site.open(page, '/server/jobs')
    await page.getByText('No jobs').waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'jobs-empty')
    await page.setViewportSize({ width: 1280, height: 800 })
    const token = await site.addOperator('jobs-admin')
    await site.api('POST', '/key-store/v1/keys', { token, json: {} })
    await page.getByRole('button', { name: 'Export audit log…' }).click()
    await page.getByRole('button', { name: 'Start export' }).click()
    await page.waitForURL('**/server/jobs/job_*')
    const button = page.getByRole('button', { name: /^Download/ })
    await button.waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'jobs-export')
    await page.setViewportSize({ width: 1280, height: 800 })
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
    expect(download.suggestedFilename()).toMatch(/^audit-log-\d{4}-\d\d-\d\d\.csv$/)
    expect(await readFile(await download.path(), 'utf8')).toContain('key-store.key.created')
  })

  test('shows the progress of a job through an outage of the server, and cancels it', async () => {
    const token = await site.addOperator('jobs-keys')
    for (let number = 0; number < 12; number++)
      await site.api('POST', '/key-store/v1/keys', { token, json: {} })
    site.clock.advance({ days: 400 })
    const { body } = await site.api<{ id: string }>('POST', '/server/v1/jobs', {
      token,
      json: {
        kind: 'key-store.rotate-keys',
        input: { olderThanSeconds: 86_400, perSecond: 1 },
      },
    })
    const page = await site.asOperator({ token: await site.addOperator('jobs-watcher') })
    await site.open(page, `/server/jobs/${body.id}`)
    await page.getByText(/of 1[23]/).waitFor()
    const resume = await site.interrupt()
    await page.locator('.strip').waitFor()
    await resume()
    await page.getByRole('button', { name: 'Cancel job' }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'jobs-cancelled')
    await page.setViewportSize({ width: 1280, height: 800 })
    await site.open(page, '/server/jobs')
    await page.getByRole('link', { name: 'Rotate old branch keys' }).waitFor()
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'jobs')
  })

  test('a viewer may not cancel or export, and an unknown job is not found', async () => {
    const page = await site.asOperator({
      token: await site.addOperator('jobs-viewer', { role: 'viewer' }),
    })
    await site.open(page, '/server/jobs/job_00000000000000000000000000')
    await page.getByRole('heading', { name: 'Job not found' }).waitFor()
    await site.open(page, '/server/jobs')
    const start = page.getByRole('button', { name: 'Export audit log…' })
    expect(await start.getAttribute('title')).toContain('requires the role admin')
  })
})
