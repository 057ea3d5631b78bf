/** Tests in a real WordPress with the real service, on every installation there is. */
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installations, missing } from './installations.ts'
import { RunningService } from './running-service.ts'
import { WordPressSite } from './wordpress-site.ts'

export interface World {
  service: RunningService
  /** With version 1.0.0 of the plugin, not connected; its owner is signed in. */
  site: WordPressSite
  /** The same site at another address, until the tests have ended. */
  copy(): Promise<WordPressSite>
}

export const PAGE = '/wp-admin/options-general.php?page=form-bridge'

const found = installations()
const reason = missing(found)
if (reason !== undefined) console.warn(`Form-Bridge's plugin is not tested in WordPress: ${reason}`)

export function inWordPress(title: string, define: (world: World) => void) {
  if (reason !== undefined) test.skip(`${title}: ${reason}`, () => {})
  describe.each(found)(`${title}, in WordPress $version`, (installation) => {
    const world = {} as World
    const sites: WordPressSite[] = []

    beforeAll(async () => {
      world.service = await RunningService.start()
      world.site = await WordPressSite.install(installation, world.service.plugin('1.0.0'))
      sites.push(world.site)
      await world.site.signIn()
      world.copy = async () => {
        const copy = await world.site.copy()
        sites.push(copy)
        await copy.signIn()
        return copy
      }
    })

    afterAll(async () => {
      for (const site of sites) {
        // Whatever was tested, PHP must have had nothing to complain about.
        expect(await site.complaints()).toEqual([])
        await site.stop()
      }
      await world.service?.stop()
    })

    define(world)
  })
}

/** Presses the button and keeps the page open. */
export async function connect(site: WordPressSite, purpose = 'connect'): Promise<void> {
  await site.press('connect', { purpose })
  await untilConnected(site)
}

/** What the open page does: asks for the next step until there is none. */
export async function untilConnected(site: WordPressSite): Promise<void> {
  const { text } = await site.page(PAGE)
  const [, address = ''] = /data-next-step="([^"]+)"/.exec(text) ?? []
  const path = address.replaceAll('&#038;', '&').replace(site.url, '')
  for (let tries = 0; tries < 300; tries++) {
    const { text: answer } = await site.page(path, { method: 'POST' })
    const { phase } = JSON.parse(answer) as { phase: string }
    if (phase === 'idle') return
    if (phase === 'failed') throw new Error(`Not connected: ${await wordsOn(site)}`)
    await setTimeout(400)
  }
  throw new Error('Neither connected nor failed')
}

/** The words on the plugin's page, as its owner reads them. */
export async function wordsOn(site: WordPressSite): Promise<string> {
  const { text } = await site.page(PAGE)
  const [own = ''] = /<div class="wrap form-bridge">[^]*?<div class="clear">/.exec(text) ?? []
  return own.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

/** How the plugin says that the site stands. */
export function statusOf(site: WordPressSite): Promise<string> {
  return site.php<string>('return ( new FormBridge\\Services() )->status();')
}

export function siteIdOf(site: WordPressSite): Promise<string> {
  return site.php<string>(
    'return ( new FormBridge\\Services() )->credentials->load()->site_id ?? "";',
  )
}

/** What a form plugin does. */
export function submit(site: WordPressSite, name: string): Promise<unknown> {
  return site.php(
    `do_action( 'form_bridge_submit', 'contact', array( 'name' => '${name}' ), array( 'page_url' => home_url( '/contact/' ) ) );`,
  )
}

export function waiting(site: WordPressSite): Promise<number> {
  return site.php<number>('return ( new FormBridge\\Services() )->queue->figures()["waiting"];')
}
