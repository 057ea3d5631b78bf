/** Tests in a real WordPress with the real service, on every installed version. */
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installations, missing } from './installations.ts'
import { RunningService } from './running-service.ts'
import { WordPressSite } from './wordpress-site.ts'

export interface Fixture {
  service: RunningService
  /** With version 1.0.0 of the plugin, not connected; its owner is signed in. */
  site: WordPressSite
  /** A copy of the site at another address, stopped after the tests. */
  copy(): Promise<WordPressSite>
}

export const PAGE = '/wp-admin/options-general.php?page=form-bridge'

const found = installations()
const reason = missing(found)
if (reason !== undefined)
  console.warn(`The Form-Bridge plugin is not tested in WordPress: ${reason}`)

export function inWordPress(title: string, define: (fixture: Fixture) => void) {
  if (reason !== undefined) test.skip(`${title}: ${reason}`, () => {})
  describe.each(found)(`${title}, in WordPress $version`, (installation) => {
    const fixture = {} as Fixture
    const sites: WordPressSite[] = []

    beforeAll(async () => {
      fixture.service = await RunningService.start()
      const plugin = await fixture.service.plugin('1.0.0')
      fixture.site = await WordPressSite.install(installation, plugin)
      sites.push(fixture.site)
      await fixture.site.signIn()
      fixture.copy = async () => {
        const copy = await fixture.site.copy()
        sites.push(copy)
        await copy.signIn()
        return copy
      }
    })

    afterAll(async () => {
      for (const site of sites) {
        // No test may cause a PHP error or warning in the plugin.
        expect(await site.phpErrors()).toEqual([])
        await site.stop()
      }
      await fixture.service?.stop()
    })

    define(fixture)
  })
}

/** Presses the button and polls like the open page. */
export async function connect(site: WordPressSite, purpose = 'connect'): Promise<void> {
  await site.press('connect', { purpose })
  await waitUntilConnected(site)
}

/** Runs the steps of connecting like the open page. */
export async function waitUntilConnected(site: WordPressSite): Promise<void> {
  const { text } = await site.page(PAGE)
  const [, address = ''] = /data-next-step="([^"]+)"/.exec(text) ?? []
  const path = address.replaceAll('&#038;', '&').replace(site.url, '')
  for (let tries = 0; tries < 300; tries++) {
    const { text: body } = await site.page(path, { method: 'POST' })
    const { phase } = JSON.parse(body) as { phase: string }
    if (phase === 'idle') return
    if (phase === 'failed') throw new Error(`Not connected: ${await pageText(site)}`)
    await setTimeout(400)
  }
  throw new Error('Neither connected nor failed')
}

/** The text of the settings page. */
export async function pageText(site: WordPressSite): Promise<string> {
  const { text } = await site.page(PAGE)
  const [own = ''] = /<div class="wrap form-bridge">[^]*?<div class="clear">/.exec(text) ?? []
  return own.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

/** The status of the site according to the plugin. */
export function statusOf(site: WordPressSite): Promise<string> {
  return site.php<string>('return ( new FormBridge\\Services() )->status();')
}

export function siteIdOf(site: WordPressSite): Promise<string> {
  return site.php<string>(
    'return ( new FormBridge\\Services() )->credentials->load()->site_id ?? "";',
  )
}

/** Submits a form like a form plugin. */
export function submit(site: WordPressSite, name: string): Promise<unknown> {
  return site.php(
    `do_action( 'form_bridge_submit', 'contact', array( 'name' => '${name}' ), array( 'page_url' => home_url( '/contact/' ) ) );`,
  )
}

export function waiting(site: WordPressSite): Promise<number> {
  return site.php<number>('return ( new FormBridge\\Services() )->queue->stats()["waiting"];')
}
