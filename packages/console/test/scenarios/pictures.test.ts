/**
 * The pictures of the console in README and docs. `UPDATE_PICTURES=1 npm test -- pictures` writes them;
 * otherwise the test checks that each page can still be shown and that its picture exists.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole } from '../support/browser.ts'
import { createFleet } from '../support/fleet.ts'
import { addAccount, seedAccount } from '../support/seed-events.ts'

const images = new URL('../../../../docs/images/', import.meta.url)
const SIZE = { width: 1280, height: 800 }

/** Width and height are at fixed places of a PNG. */
function sizeOf(png: Buffer) {
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

async function expectPicture(page: Page, name: string) {
  const file = new URL(`console-${name}.png`, images)
  if (process.env['UPDATE_PICTURES'] === '1') writeFileSync(file, await page.screenshot())
  expect(sizeOf(readFileSync(file))).toEqual(SIZE)
}

describeConsole(
  'the pictures of the console',
  (site) => {
    test('show the overview of a Ferryhook user', async () => {
      const { email } = await seedAccount(site)
      const page = await site.signedIn({ email })
      await site.open(page, '/overview')
      await page.getByText('Needs attention').waitFor()
      await page.locator('canvas').first().waitFor()
      await expectPicture(page, 'overview')
    })

    test('show the server and the sites to an operator', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server')
      await page.getByRole('heading', { name: 'Services', exact: true }).waitFor()
      await expectPicture(page, 'server')
      await createFleet(site)
      await site.open(page, '/server/sites')
      await page.getByRole('heading', { name: /Versions in use/ }).waitFor()
      await expectPicture(page, 'sites')
    })
  },
  { FERRYHOOK_DELIVER: 'false' },
)

const TYPES = [
  'customer.subscription.updated',
  'invoice.paid',
  'invoice.payment_failed',
  'charge.refunded',
]

describeConsole('the picture of an event', (site) => {
  test('shows its deliveries, of which one is retried', async () => {
    const { email, token } = await addAccount(site)
    const make = async (path: string, json: object) => {
      const { body } = await site.api<{ id: string }>('POST', `/ferryhook/v1${path}`, {
        token,
        json,
      })
      return body.id
    }
    const source = await make('/sources', { name: 'Stripe production', provider: 'custom' })
    const connect = (name: string, destinationUrl: string) =>
      make(`/sources/${source}/connections`, { name, destinationUrl })
    await connect('Billing service', 'test:204')
    await connect('Data warehouse', 'test:503')
    for (let sent = 0; sent < 16; sent++) {
      const object = { id: `in_1QKZr2Lkd${sent}`, currency: 'eur', amount_due: 4_900 + sent }
      const type = TYPES[sent % TYPES.length]
      const id = `evt_1QKZr2LkdIwHu7${sent}`
      const json = { id, object: 'event', type, livemode: true, data: { object } }
      await site.api('POST', `/in/${source}`, { json })
    }
    const page = await site.signedIn({ email })
    await site.open(page, '/events')
    await page
      .getByText(/Retrying/)
      .nth(3)
      .waitFor()
    await page.getByRole('link', { name: 'invoice.payment_failed' }).first().click()
    await page.getByRole('heading', { name: 'Request' }).waitFor()
    await page.getByText('Service Unavailable').or(page.getByText('503')).first().waitFor()
    await expectPicture(page, 'events')
  })
})
