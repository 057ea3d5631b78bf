/** People in front of the console, each in a browser context of their own. */
import { findChromium, launch } from '@strongroom/kit/testing/chromium'
import axe from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { type ConsoleServer, PASSWORD, startConsoleServer } from './console-server.ts'

export interface ConsoleSite extends ConsoleServer {
  /** A person with a new browser context, signed in as nobody. */
  visitor(options?: BrowserContextOptions): Promise<Page>
  /** A person who is signed in to a Ferryhook account, by default a new one. */
  signedIn(options?: BrowserContextOptions & { email?: string }): Promise<Page>
  /** A person who is signed in as an operator, by default a new admin. */
  asOperator(options?: BrowserContextOptions & { token?: string }): Promise<Page>
  /** Opens an address below `/console` and waits for its heading. */
  open(page: Page, path: string): Promise<void>
  /** Errors and warnings of pages; a test that expects one removes it. */
  complaints: string[]
}

const found = await findChromium()
if (!found) console.warn('No Chromium was found: the tests of the console are skipped')

/**
 * Tests in a real browser against a real server. Whatever they are about, no page may break its security
 * policy, fail or complain.
 */
export function describeConsole(
  title: string,
  define: (site: ConsoleSite) => void,
  env: Record<string, string> = {},
  serverOptions: { only?: string } = {},
) {
  describe.skipIf(!found)(title, () => {
    const complaints: string[] = []
    const site = { complaints } as ConsoleSite
    let contexts: BrowserContext[] = []
    let browser: Browser
    let operators = 0

    beforeAll(async () => {
      if (!found) return
      ;[browser] = await Promise.all([
        launch(found),
        startConsoleServer(env, serverOptions).then((server) => Object.assign(site, server)),
      ])
      site.open = async (page, path) => {
        await page.goto(`${site.origin}/console${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
      }
      site.visitor = async (options = {}) => {
        const context = await browser.newContext({
          locale: 'en-GB',
          timezoneId: 'UTC',
          // Nothing to wait for.
          reducedMotion: 'reduce',
          viewport: { width: 1280, height: 800 },
          ...options,
        })
        contexts.push(context)
        // Only against tests that hang.
        context.setDefaultTimeout(40_000)
        await context.addInitScript(reportViolations)
        context.on('weberror', (error) => complaints.push(error.error().message))
        context.on('console', (message) => {
          const isRefusal = message.text().startsWith('Failed to load resource')
          if (['error', 'warning'].includes(message.type()) && !isRefusal)
            complaints.push(message.text())
        })
        return context.newPage()
      }
      site.signedIn = async ({ email, ...options } = {}) => {
        const account = email ?? (await site.addUser()).email
        const page = await site.visitor(options)
        await page.request.post(`${site.origin}/ferryhook/v1/auth/login`, {
          data: { email: account, password: PASSWORD },
          headers: { origin: site.origin },
        })
        return page
      }
      site.asOperator = async ({ token, ...options } = {}) => {
        const used = token ?? (await site.addOperator(`operator-${++operators}`))
        const page = await site.visitor(options)
        await page.request.post(`${site.origin}/server/v1/session`, {
          data: { token: used },
          headers: { origin: site.origin },
        })
        return page
      }
    })

    afterEach(async () => {
      await Promise.all(contexts.map((context) => context.close()))
      contexts = []
      expect(complaints.splice(0)).toEqual([])
    })

    afterAll(async () => {
      await browser?.close()
      await site.close?.()
    })

    define(site)
  })
}

function reportViolations() {
  addEventListener('securitypolicyviolation', (event) => {
    console.error(`${event.violatedDirective} forbids ${event.blockedURI}`)
  })
}

const WIDTHS = [1280, 360] as const
const SCHEMES = ['light', 'dark'] as const

/** Axe and horizontal overflow of the open page, at both widths, light and dark. */
export async function pageProblems(page: Page): Promise<string[]> {
  const problems: string[] = []
  const before = page.viewportSize()
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      for (const violation of await violations(page))
        problems.push(`${width} ${colorScheme}: ${violation}`)
    }
    const room = await page.evaluate(() => innerWidth - document.documentElement.scrollWidth)
    if (room < 0) problems.push(`${width}: ${-room} pixels too wide`)
  }
  if (before) await page.setViewportSize(before)
  return problems
}

async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's security policy does not restrict.
  await page.evaluate(axe.source)
  const result = await page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe }
    return inPage.run(document, { resultTypes: ['violations'] })
  })
  return result.violations.map(
    ({ id, nodes }) => `${id} ${nodes.map((node) => node.html).join(' ')}`,
  )
}

/** Pictures to look at, with SHOTS=directory: at both widths, light and dark. */
export async function takeShots(page: Page, name: string): Promise<void> {
  const directory = process.env['SHOTS']
  if (directory === undefined) return
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${directory}/${name}-${width}-${colorScheme}.png` })
    }
  }
}
