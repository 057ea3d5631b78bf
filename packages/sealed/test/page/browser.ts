/** Visitors of the page, each in a browser context of their own. */
import { findChromium, launch } from '@strongroom/kit/testing/chromium'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { type PageServer, startPageServer } from './page-server.ts'

export interface Site extends PageServer {
  /** A visitor with a new browser context. */
  visitor(options?: BrowserContextOptions): Promise<Page>
  /** Errors and warnings of pages; a test that expects one removes it. */
  complaints: string[]
}

/** Also runs tests that take long and are less likely to break. */
export const SLOW = process.env['SLOW'] === '1'

const found = await findChromium()
if (!found) {
  console.warn('No Chromium was found: the tests of the page in a browser are skipped')
}

/**
 * Tests in a real browser. Whatever they are about, no page may break its security policy, fail or
 * complain.
 */
export function describeInBrowser(title: string, define: (site: Site) => void) {
  describe.skipIf(!found)(title, () => {
    const complaints: string[] = []
    const site = { complaints } as Site
    let contexts: BrowserContext[] = []
    let browser: Browser

    beforeAll(async () => {
      if (!found) return
      ;[browser] = await Promise.all([
        launch(found),
        startPageServer().then((server) => Object.assign(site, server)),
      ])
      site.visitor = async (contextOptions = {}) => {
        const context = await browser.newContext({
          locale: 'en-GB',
          timezoneId: 'UTC',
          // Nothing to wait for.
          reducedMotion: 'reduce',
          ...contextOptions,
        })
        contexts.push(context)
        // Only against tests that hang.
        context.setDefaultTimeout(40_000)
        // Runs normally, and can be advanced instead of waiting.
        await context.clock.install()
        await context.addInitScript(reportViolations)
        context.on('weberror', (error) => complaints.push(error.error().message))
        context.on('console', (message) => {
          const isRefusal = message.text().startsWith('Failed to load resource')
          if (['error', 'warning'].includes(message.type()) && !isRefusal)
            complaints.push(message.text())
        })
        return context.newPage()
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
