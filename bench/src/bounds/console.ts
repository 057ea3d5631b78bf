// The events page of the console in a real browser: a list of 100,000 events, and 200 events a second.

import { findChromium, launch } from '@strongroom/kit/testing/chromium'
import type { Figure } from './figures.ts'
import { measureSteadily } from './measure.ts'

const LISTED_EVENTS = 100_000
const LOADED_EVENTS = 10_000
const PAGE_SIZE = 100
const OPENED_EVENTS = 10
const EVENTS_PER_SECOND = 200
const LIVE_SECONDS = 10

/** Script that runs to open an event. */
const MAX_OPEN_MS = 100
/** How long input waits while events arrive: what browsers count as a good response to input. */
const MAX_DELAY_MS = 200
/** Rows in the document, however many are loaded. */
const MAX_ROWS = 100

/** Code of the browser is text, because this program has the types of Node. Returns the rows so far. */
const SCROLL_DOWN = `(() => {
  const list = document.querySelector('.pane-scroll.list')
  list.scrollTop = list.scrollHeight
  return list.scrollHeight / document.querySelector('.row').getBoundingClientRect().height
})()`

/** How late a timer of ten milliseconds is: so long somebody's input would wait. */
const OBSERVE_DELAY = `(() => {
  globalThis.longestDelay = 0
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    globalThis.longestDelay = Math.max(globalThis.longestDelay, now - last - 10)
    last = now
  }, 10)
})()`

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof launch>>['newPage']>>
type CdpSession = Awaited<ReturnType<ReturnType<Page['context']>['newCDPSession']>>

interface Item {
  id: string
  receivedAt: string
}

/** Empty if there is no browser. */
export async function measureConsole(
  serverUrl: string,
  progress: (text: string) => void,
  onRepeat: (figures: readonly Figure[]) => void,
): Promise<Figure[]> {
  const found = await findChromium()
  if (!found) {
    progress('No Chromium was found: the console is not measured')
    return []
  }
  // Browsers accept secure cookies there.
  const url = serverUrl.replace('127.0.0.1', 'localhost')
  const browser = await launch(found)
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const sources = await signUp(page, url)
    const real = await receive(url, sources[0] ?? '')
    progress(`Console: a list of ${LISTED_EVENTS} events`)
    const list = await measureSteadily(() => measureList(page, url, real), onRepeat)
    progress(`Console: ${EVENTS_PER_SECOND} events a second`)
    const live = await measureSteadily(() => measureLive(page, url, sources), onRepeat)
    return [...list, ...live]
  } finally {
    await browser.close()
  }
}

/** Signs up in the browser; two sources, because a plan limits the events of one. */
async function signUp(page: Page, url: string): Promise<string[]> {
  const person = { email: 'console@example.com', name: 'Bounds', password: 'correct horse battery' }
  const answer = await page.request.post(`${url}/ferryhook/v1/auth/signup`, { data: person })
  const { accessToken } = (await answer.json()) as { accessToken: string }
  const headers = { authorization: `Bearer ${accessToken}` }
  const source = async () => {
    const data = { name: 'Bounds', provider: 'custom' }
    const made = await page.request.post(`${url}/ferryhook/v1/sources`, { data, headers })
    return ((await made.json()) as { id: string }).id
  }
  return [await source(), await source()]
}

async function receive(url: string, sourceId: string): Promise<string> {
  const body = JSON.stringify({ type: 'invoice.paid', text: 'x'.repeat(4_000) })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/in/${sourceId}`, { method: 'POST', headers, body })
  const [id] = /evt_[\w-]+/.exec(await answer.text()) ?? []
  if (id === undefined) throw new Error('The server did not accept an event')
  return id
}

/** The server has one event; its copies fill the list, so that the browser has the work of all. */
async function fillList(page: Page, real: string): Promise<void> {
  let original: Item | undefined
  await page.route(/\/v1\/events\?/, async (route) => {
    if (!original) {
      const answer = await route.fetch()
      original = ((await answer.json()) as { items: Item[] }).items[0]
    }
    const first = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
    const items = Array.from({ length: PAGE_SIZE }, (_, offset) => ({
      ...original,
      id: `evt_${String(first + offset).padStart(16, '0')}`,
      receivedAt: new Date(Date.parse(original?.receivedAt ?? '') - first - offset).toISOString(),
    }))
    const next = first + PAGE_SIZE
    const cursor = next < LISTED_EVENTS ? String(next) : null
    await route.fulfill({ json: { items, cursor, omittedSources: 0 } })
  })
  await page.route(/\/v1\/events\/evt_\d{16}$/, (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/evt_\d{16}$/, real),
    }),
  )
}

async function measureList(page: Page, url: string, real: string): Promise<Figure[]> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await fillList(page, real)
  await page.goto(`${url}/console/events`)
  await page.locator('.row .row-name').first().waitFor()
  while (Number(await page.evaluate(SCROLL_DOWN)) < LOADED_EVENTS) await page.waitForTimeout(20)
  const rows = await page.locator('.row').count()
  const session = await page.context().newCDPSession(page)
  // The time of the thread, which other programs do not lengthen.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.locator('.row .row-name').first().click()
  await page.getByRole('region', { name: 'Body' }).waitFor()
  let slowest = 0
  for (let opened = 0; opened < OPENED_EVENTS; opened++) {
    // oxlint-disable-next-line no-await-in-loop -- one event after the other
    slowest = Math.max(slowest, await measureOpening(page, session))
  }
  return [
    { name: 'console: script to open an event', value: slowest, unit: 'ms', max: MAX_OPEN_MS },
    { name: 'console: rows in the document', value: rows, unit: 'events', max: MAX_ROWS },
  ]
}

async function measureOpening(page: Page, session: CdpSession): Promise<number> {
  const before = await scriptMs(session)
  const opened = page.waitForResponse(/\/v1\/events\/evt_/)
  await page.keyboard.press('j')
  await opened
  await page.getByRole('region', { name: 'Body' }).waitFor()
  return (await scriptMs(session)) - before
}

async function scriptMs(session: CdpSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0) * 1000
}

async function measureLive(page: Page, url: string, sources: string[]): Promise<Figure[]> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.goto(`${url}/console/events?live=1`)
  await page.getByText('Live', { exact: true }).waitFor()
  // Somebody reads, so new rows wait.
  await page.locator('.row .row-name').first().hover()
  await page.evaluate(OBSERVE_DELAY)
  const pending: Promise<unknown>[] = []
  let sent = 0
  const timer = setInterval(() => {
    for (let each = 0; each < EVENTS_PER_SECOND / 20; each++)
      pending.push(receive(url, sources[sent++ % sources.length] ?? ''))
  }, 50)
  await page.getByText(/not shown/).waitFor({ timeout: 60_000 })
  await page.waitForTimeout(LIVE_SECONDS * 1000)
  clearInterval(timer)
  await Promise.allSettled(pending)
  const longest = Number(await page.evaluate('globalThis.longestDelay'))
  const name = `console: input delay at ${EVENTS_PER_SECOND} events a second`
  return [{ name, value: longest, unit: 'ms', max: MAX_DELAY_MS }]
}
