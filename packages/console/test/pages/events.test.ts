import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type ConsoleSite, describeConsole, pageProblems, takeShots } from '../support/browser.ts'
import { PASSWORD } from '../support/console-server.ts'

interface Shop {
  page: Page
  token: string
  sourceId: string
  /** Sends a webhook and returns the id of its event. */
  receive(body: string | Uint8Array<ArrayBuffer>, type?: string): Promise<string>
  connect(to: string, name: string): Promise<string>
  until(id: string, status: string): Promise<void>
}

/** An account with a source, and its owner in front of the console. */
async function openShop(site: ConsoleSite, name = 'Shop'): Promise<Shop> {
  const { email } = await site.addUser()
  const login = await site.api<{ accessToken: string }>('POST', '/ferryhook/v1/auth/login', {
    json: { email, password: PASSWORD },
  })
  const token = login.body.accessToken
  const v1 = async <T>(method: string, path: string, json?: unknown) => {
    const options = { token, ...(json !== undefined && { json }) }
    const { status, body } = await site.api<T>(method, `/ferryhook/v1${path}`, options)
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(body)}`)
    return body
  }
  const source = { name, provider: 'custom' }
  const { id: sourceId } = await v1<{ id: string }>('POST', '/sources', source)
  return {
    page: await site.signedIn({ email }),
    token,
    sourceId,
    async receive(body, type = 'application/json') {
      const response = await fetch(`${site.origin}/in/${sourceId}?shop=berlin`, {
        method: 'POST',
        headers: { 'content-type': type, 'x-shop': 'Berlin' },
        body,
      })
      const text = await response.text()
      const [id] = /evt_[\w-]+/.exec(text) ?? []
      if (id === undefined) throw new Error(text)
      return id
    },
    async connect(destinationUrl, to) {
      const connection = { name: to, destinationUrl }
      const path = `/sources/${sourceId}/connections`
      return (await v1<{ id: string }>('POST', path, connection)).id
    },
    async until(id, status) {
      await expect
        .poll(async () => (await v1<{ status: string }>('GET', `/events/${id}`)).status, {
          timeout: 20_000,
        })
        .toBe(status)
    },
  }
}

const rows = (page: Page) => page.locator('.row .row-name')

describeConsole('the events page', (site) => {
  test('lists events with their results, and shows one with its deliveries and request', async () => {
    const shop = await openShop(site)
    await shop.connect('test:503', 'Data warehouse')
    await shop.connect('test:200', 'Billing service')
    const id = await shop.receive('{"type":"invoice.paid","amount":12345678901234567890}')
    await shop.until(id, 'retrying')
    const { page } = shop
    await site.open(page, '/events')
    await rows(page).first().waitFor()
    expect(await page.locator('.row').textContent()).toContain('Retrying 1 of 8, 503')
    await page.getByRole('link', { name: /Retrying/ }).waitFor()
    await takeShots(page, 'events')
    await page.setViewportSize({ width: 1280, height: 800 })
    await rows(page).first().click()
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('event')).toBe(id)
    const body = page.getByRole('region', { name: 'Body' })
    // Numbers are shown as they were sent, not as JavaScript would round them.
    expect(await body.textContent()).toContain('12345678901234567890')
    await page.locator('button.attempt').first().click()
    await page.getByText('Recorded as test request').waitFor()
    await page.getByRole('button', { name: 'Sent', exact: true }).click()
    await page.getByText('The body as it was received').waitFor()
    expect(await page.locator('.attempt-viewer').textContent()).toContain('webhook-signature')
    await page.locator('button.attempt').first().click()
    const box = await body.boundingBox()
    // The mock-up shows three lines.
    expect(800 - (box?.y ?? 800)).toBeGreaterThan(80)
    expect(await pageProblems(page)).toEqual([])
    await takeShots(page, 'events-detail')
  })

  test('is operated with the keyboard alone', async () => {
    const shop = await openShop(site)
    const made: string[] = []
    for (const type of ['one', 'two', 'three']) {
      made.unshift(await shop.receive(JSON.stringify({ type })))
    }
    const { page } = shop
    await site.open(page, '/events')
    await expect.poll(() => rows(page).count()).toBe(3)
    const opened = () => new URL(page.url()).searchParams.get('event')
    await page.keyboard.press('j')
    await page.keyboard.press('o')
    await expect.poll(opened).toBe(made[0])
    await page.getByRole('heading', { name: 'Request' }).waitFor()
    await page.keyboard.press('j')
    await expect.poll(opened).toBe(made[1])
    await page.getByRole('heading', { name: 'two' }).waitFor()
    await page.keyboard.press('2')
    await expect.poll(() => new URL(page.url()).searchParams.get('tab')).toBe('headers')
    await page.getByText('x-shop').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(opened).toBeNull()
    await page.keyboard.press('x')
    await page.keyboard.press('Shift+J')
    await page.getByText('2 selected').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByText('selected').count()).toBe(0)
    await page.keyboard.press('/')
    await page.keyboard.type('status:failed')
    await page.keyboard.press('Enter')
    await page.getByText('No events match').waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('failed')
    await page.goBack()
    await expect.poll(() => rows(page).count()).toBe(3)
  })

  test('shows hostile bodies as text', async () => {
    const shop = await openShop(site)
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    const bodies: [string | Uint8Array<ArrayBuffer>, string, string][] = [
      ['<script>document.title="taken"</script>', 'text/html', '<script>'],
      ['{"name":"\u202Eevil\u2066"}', 'application/json', 'U+202E'],
      [`{"text":"${'x'.repeat(250_000)}"}`, 'application/json', 'xxx'],
      [new Uint8Array([0, 255, 254, 65]), 'application/octet-stream', '00 ff fe 41'],
      ['{"broken":', 'application/json', '{"broken":'],
      [deep, 'application/json', '['],
    ]
    const { page } = shop
    for (const [body, type, expected] of bodies) {
      const id = await shop.receive(body, type)
      await site.open(page, `/events/${id}`)
      const shown = page.getByRole('region', { name: 'Body' })
      await shown.waitFor()
      expect(await shown.textContent(), type).toContain(expected)
      expect(await page.title()).toContain('Strongroom console')
      expect(await page.locator('.code .l').count()).toBeLessThan(300)
    }
  })

  test('new events wait at the top while somebody reads', async () => {
    const shop = await openShop(site)
    const first = await shop.receive('{"type":"first"}')
    const { page } = shop
    await site.open(page, `/events?live=1&event=${first}`)
    await page.getByText('Live', { exact: true }).waitFor()
    await shop.receive('{"type":"second"}')
    await page.getByRole('button', { name: /1 new/ }).waitFor()
    expect(await rows(page).allTextContents()).toEqual(['first'])
    await page.getByRole('button', { name: /1 new/ }).click()
    await expect.poll(() => rows(page).allTextContents()).toEqual(['second', 'first'])
  })

  test('several events are cancelled with one action, after a question', async () => {
    const shop = await openShop(site)
    await shop.connect('test:500', 'Down')
    const made = [await shop.receive('{"type":"a"}'), await shop.receive('{"type":"b"}')]
    for (const id of made) await shop.until(id, 'retrying')
    const { page } = shop
    await site.open(page, '/events')
    await expect.poll(() => rows(page).count()).toBe(2)
    await page.keyboard.press('Control+a')
    await page.getByRole('button', { name: 'Cancel deliveries' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel deliveries' }).click()
    await page.getByText('Cancelled the deliveries of 2 events').waitFor()
    for (const id of made) await shop.until(id, 'failed')
  })

  test('an event is replayed to the connections that are chosen', async () => {
    const shop = await openShop(site)
    await shop.connect('test:200', 'Billing service')
    const id = await shop.receive('{"type":"a"}')
    await shop.until(id, 'delivered')
    const { page } = shop
    await site.open(page, `/events/${id}`)
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
    await page.keyboard.press('r')
    await page.getByText('it gets a second copy').waitFor()
    await page.getByRole('button', { name: 'Replay to 1 connection' }).click()
    await page.getByText('Replaying to 1 connection').waitFor()
    await expect.poll(() => page.locator('.delivery').textContent()).toContain('Billing service')
    await page.getByRole('button', { name: 'Attempts to Billing service' }).click()
    await expect.poll(() => page.locator('button.attempt').count()).toBe(2)
  })

  test('an account sees no event of another one, nor one that is gone', async () => {
    const shop = await openShop(site)
    const stranger = await openShop(site)
    const id = await shop.receive('{"type":"mine"}')
    await site.open(stranger.page, '/events')
    await stranger.page.getByText('No events match').waitFor()
    for (const gone of [id, 'evt_AAAAAAAAAAAAAAAA']) {
      await site.open(stranger.page, `/events/${gone}`)
      await stranger.page.getByText('Event not found').waitFor()
    }
    expect(await pageProblems(stranger.page)).toEqual([])
  })

  test('a delivery is held, released and cancelled where it is shown', async () => {
    const shop = await openShop(site)
    await shop.connect('test:500', 'Down')
    const id = await shop.receive('{"type":"a"}')
    await shop.until(id, 'retrying')
    const { page } = shop
    await site.open(page, `/events?event=${id}`)
    await page.getByRole('button', { name: 'Hold' }).click()
    await page.getByRole('button', { name: 'Release' }).waitFor()
    await shop.until(id, 'held')
    await page.getByRole('button', { name: 'Release' }).click()
    await shop.until(id, 'retrying')
    await page.getByRole('button', { name: 'Hold' }).click()
    await shop.until(id, 'held')
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel delivery' }).click()
    await shop.until(id, 'failed')
    await expect.poll(() => page.locator('.detail-title').textContent()).toContain('Failed')
    // The list beside it follows.
    expect(await page.locator('.row').textContent()).toContain('Failed')
  })

  test('a body is searched, shown as bytes, downloaded as a file and copied as a command', async () => {
    const shop = await openShop(site)
    const id = await shop.receive('{"type":"a","text":"it\'s here"}')
    const { page } = shop
    // The console's policy forbids to read the clipboard, also to this test.
    await page.addInitScript(() => {
      navigator.clipboard.writeText = async (text) => void (document.body.dataset['copied'] = text)
    })
    await site.open(page, `/events/${id}`)
    await page.getByRole('button', { name: 'Find in body' }).click()
    await page.getByRole('textbox', { name: 'Find in body' }).fill('HERE')
    await page.getByText('1 of 1').waitFor()
    expect(await page.locator('.l.is-found').textContent()).toContain("it's here")
    await page.getByRole('button', { name: 'Hex' }).click()
    await page.getByText('7b 22 74 79').waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download body' }).click(),
    ])
    expect(file.suggestedFilename()).toBe(id)
    await page.getByRole('button', { name: 'Copy as cURL (c)' }).click()
    await page.getByText('Copied as cURL').waitFor()
    const command = await page.locator('body').getAttribute('data-copied')
    expect(command).toContain(`/in/${shop.sourceId}?shop=berlin'`)
    expect(command).toContain(`it'\\''s here`)
  })

  test('the address has the filter, and dragging over the histogram sets the time', async () => {
    const shop = await openShop(site)
    await shop.receive('{"type":"red"}')
    await shop.receive('{"type":"blue"}')
    const { page } = shop
    await site.open(page, '/events?q=red&last=1h')
    await expect.poll(() => rows(page).allTextContents()).toEqual(['red'])
    await page.reload()
    await expect.poll(() => rows(page).allTextContents()).toEqual(['red'])
    await page.getByRole('button', { name: 'Remove filter body' }).click()
    await expect.poll(() => rows(page).count()).toBe(2)
    const plot = await page.locator('.hist-plot').boundingBox()
    if (!plot) throw new Error('There is no histogram')
    await page.mouse.move(plot.x + 10, plot.y + 10)
    await page.mouse.down()
    await page.mouse.move(plot.x + 200, plot.y + 10)
    await page.mouse.up()
    await page.getByText('No events match').waitFor()
    const { searchParams } = new URL(page.url())
    expect(Date.parse(searchParams.get('from') ?? '')).toBeLessThan(
      Date.parse(searchParams.get('to') ?? ''),
    )
  })

  test('a lost connection is said, and the stream continues after it', async () => {
    const shop = await openShop(site)
    const first = await shop.receive('{"type":"first"}')
    const { page } = shop
    await site.open(page, `/events?live=1&event=${first}`)
    await page.getByText('Live', { exact: true }).waitFor()
    const restart = await site.interrupt()
    await page.getByText('Connection lost, reconnecting').waitFor()
    expect(await rows(page).allTextContents()).toEqual(['first'])
    await restart()
    await page.getByText('Live', { exact: true }).waitFor()
    await shop.receive('{"type":"second"}')
    await page.getByRole('button', { name: /1 new/ }).waitFor()
    expect(site.complaints.splice(0).every((text) => /Failed to|ERR_|network/i.test(text))).toBe(
      true,
    )
  })

  test('a deployment without a stream is asked for new events every two seconds', async () => {
    const shop = await openShop(site)
    await shop.receive('{"type":"first"}')
    const { page } = shop
    await page.route(/\/v1\/events\/stream/, (route) =>
      route.fulfill({ status: 404, json: { message: 'Not Found' } }),
    )
    await site.open(page, '/events?live=1')
    await page.getByText('Live', { exact: true }).waitFor()
    await shop.receive('{"type":"second"}')
    await expect.poll(() => rows(page).allTextContents()).toEqual(['second', 'first'])
    site.complaints.splice(0)
  })
})
