import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { FileContent } from '../../src/crypto/content.ts'
import { texts } from '../../src/page/languages.ts'
import { sealByReference } from '../crypto/reference.ts'
import { describeInBrowser, SLOW } from './browser.ts'
import { isAvailable, openInNode, sealInNode } from './node-client.ts'
import { expectText, expectTitle, hold, open, passphraseField, press } from './steps.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const fileOf = (name: string, bytes = everyByte): FileContent => ({ name, mediaType: '', bytes })

interface Picked {
  name: string
  mimeType: string
  buffer: Buffer
}

const picked = (name: string, bytes: Uint8Array = everyByte, mimeType = ''): Picked => ({
  name,
  mimeType,
  buffer: Buffer.from(bytes),
})

/** Chooses a file as a person does: with the button that opens the system's dialog. */
async function choose(page: Page, file: Picked, label = 'Choose a file') {
  const chooser = page.waitForEvent('filechooser')
  await press(page, label)
  await (await chooser).setFiles(file)
}

/** Drops files on the background of the page. */
async function drop(page: Page, files: readonly { name: string; size: number }[]) {
  return page.evaluate((given) => {
    const data = new DataTransfer()
    for (const { name, size } of given) data.items.add(new File([new Uint8Array(size)], name))
    const fire = (type: string) => {
      const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true })
      document.body.dispatchEvent(event)
      return event.defaultPrevented
    }
    return [fire('dragover'), document.querySelector('.is-over-drop') !== null, fire('drop')]
  }, files)
}

async function linkOf(page: Page): Promise<string> {
  await press(page, 'Seal it')
  return page.getByLabel('Link to send').inputValue()
}

/** Presses the button and returns what the browser saved. */
async function save(page: Page, label = 'Save file') {
  const started = page.waitForEvent('download')
  await press(page, label)
  const download = await started
  const content = await readFile(await download.path())
  return { name: download.suggestedFilename(), url: download.url(), content }
}

describeInBrowser('files on the page', (site) => {
  test('a binary file with a passphrase goes from the page to the CLI unchanged', async () => {
    const page = await site.visitor()
    await page.goto(site.base)
    await choose(page, picked('server.p12', everyByte, 'application/x-pkcs12'))
    await expectText(page, '256 bytes')
    await page.getByRole('switch', { name: 'Passphrase' }).check()
    await page.getByRole('textbox', { name: 'Passphrase' }).fill('two words')
    const link = await linkOf(page)
    expect(await openInNode(link, 'two words')).toEqual({
      name: 'server.p12',
      mediaType: 'application/x-pkcs12',
      bytes: everyByte,
    })
    expect(site.requests.join('\n')).not.toContain('server.p12')
  })

  test('a binary file with a passphrase goes from the CLI to the page unchanged', async () => {
    const { link } = await sealInNode(site.base, fileOf('server.p12'), { passphrase: 'two words' })
    const page = await site.visitor()
    await open(page, link, 'two worlds')
    await expectText(page, 'Wrong passphrase. 9 tries are left.')
    await passphraseField(page).fill('two words')
    await hold(page)
    await expectText(page, 'server.p12')
    const saved = await save(page)
    expect(saved.name).toBe('server.p12')
    expect(new Uint8Array(saved.content)).toEqual(everyByte)
  })

  test('a file can be dropped anywhere on the page and replaces the text until it is removed', async () => {
    const page = await site.visitor()
    await page.goto(site.base)
    await page.getByLabel('Your secret').fill('typed')
    expect(await drop(page, [{ name: 'dropped.key', size: 7 }])).toEqual([true, true, true])
    await expectText(page, 'dropped.key')
    expect(await page.getByLabel('Your secret').isVisible()).toBe(false)
    await press(page, 'Remove')
    expect(await page.getByLabel('Your secret').inputValue()).toBe('typed')
    await drop(page, [{ name: 'dropped.key', size: 7 }])
    expect(await openInNode(await linkOf(page))).toEqual(fileOf('dropped.key', new Uint8Array(7)))
  })

  test('a file that is too large and several files are refused with a reason', async () => {
    const page = await site.visitor()
    await page.goto(site.base)
    await drop(page, [{ name: 'a.key', size: 51_194 }])
    await expectText(
      page,
      'This file has 51,194 bytes. File and name have at most 51,200 bytes together.',
    )
    await drop(page, [
      { name: 'a', size: 1 },
      { name: 'b', size: 1 },
    ])
    await expectText(page, 'Choose one file at a time')
    await drop(page, [{ name: 'a.key', size: 51_193 }])
    expect(await openInNode(await linkOf(page))).toEqual(fileOf('a.key', new Uint8Array(51_193)))
  })

  test('a file is chosen, sealed, opened and saved with the keyboard alone', async () => {
    const page = await site.visitor()
    await page.goto(site.base)
    const chooser = page.waitForEvent('filechooser')
    // The name of the page, the language, the secret, the button.
    for (let presses = 0; presses < 4; presses++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await (await chooser).setFiles(picked('.env', Buffer.from('KEY=1')))
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    await expectText(page, '.env')
    expect(await focused()).toBe('Remove')
    const link = await linkOf(page)
    await page.goto('about:blank')
    await page.goto(link)
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Tab')
    await page.keyboard.down('Enter')
    await expectText(page, '.env')
    await page.keyboard.up('Enter')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Save file')
    const download = page.waitForEvent('download')
    await page.keyboard.press('Enter')
    expect(await readFile(await (await download).path(), 'utf8')).toBe('KEY=1')
  })

  test.each([
    ['page.html', 'text/html', '<script>document.title = "rendered"</script>'],
    ['image.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
  ])('%s is downloaded as unknown bytes and never rendered', async (name, mediaType, text) => {
    const bytes = Uint8Array.from(Buffer.from(text))
    const { link } = await sealInNode(site.base, { name, mediaType, bytes })
    const page = await site.visitor()
    await page.addInitScript(() => {
      const create = URL.createObjectURL.bind(URL)
      URL.createObjectURL = (blob: Blob) => {
        document.documentElement.dataset['saved'] = blob.type
        return create(blob)
      }
    })
    await open(page, link)
    await expectText(page, name)
    expect(await page.locator('iframe, object, embed, img, pre').count()).toBe(0)
    const { url, content } = await save(page)
    expect(content.toString()).toBe(text)
    expect(await page.locator('html').getAttribute('data-saved')).toBe('application/octet-stream')
    expect(page.context().pages()).toHaveLength(1)
    expect(page.url()).toBe(site.base)
    // Even as an address of its own it is downloaded and not shown.
    const again = page.context().waitForEvent('download')
    await page.evaluate((address) => void window.open(address), url)
    expect(await readFile(await (await again).path(), 'utf8')).toBe(text)
  })

  test('a hostile name of another program is sanitised before it is shown or saved', async () => {
    const page = await site.visitor()
    page.on('dialog', (dialog) => void dialog.accept())
    for (const [name, shown] of [
      ['../../x', '.._.._x'],
      ['a\u202egnp.exe', 'a_gnp.exe'],
      ['a\u0007\u001b[31m.txt', 'a__[31m.txt'],
      ['', 'file'],
    ] as const) {
      const id = Buffer.from(randomBytes(16)).toString('base64url')
      const keys = { linkKey: '00'.repeat(32), iv: '00'.repeat(12), passphrase: null }
      const content = { name, mediaType: 'text/html', bytes: '78' }
      const { fragment, body } = sealByReference({ id, ...keys, content })
      await page.route('**/reveal', (route) =>
        route.fulfill({ json: { ...body, remainingViews: 0, graceSeconds: 30 } }),
      )
      await open(page, `${site.base}#${id}:${fragment}`)
      await expectText(page, shown)
      // Browsers replace leading dots in ways of their own.
      const withoutDots = (text: string) => text.replace(/^[._]+/, '')
      expect(withoutDots((await save(page)).name)).toBe(withoutDots(shown))
    }
  })

  test('a link with a flag that this version does not know uses no view', async () => {
    const { link } = await sealInNode(site.base, 'once')
    const [start = '', key = ''] = link.split(/:(?=[^:]*$)/)
    const bytes = Buffer.from(key, 'base64url')
    bytes[1] = 4
    const before = site.requests.length
    const page = await site.visitor()
    await page.goto(`${start}:${bytes.toString('base64url')}`)
    await expectText(page, texts.en['damaged.newer'])
    expect(site.requests.slice(before).filter((each) => each.includes('/v1/'))).toEqual([])
    expect(await isAvailable(link)).toBe(true)
  })

  test('leaving warns until the file was saved', async () => {
    const { link } = await sealInNode(site.base, fileOf('key.bin'))
    const page = await site.visitor()
    await open(page, link)
    await expectText(page, 'key.bin')
    await page.clock.fastForward(31_000)
    await expectText(page, 'It is only on this page now. Save it before you leave.')
    const warns = () =>
      page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
    expect(await warns()).toBe(true)
    await save(page)
    expect(await warns()).toBe(false)
  })

  test.each(SLOW ? Object.entries(texts) : Object.entries(texts).slice(1))(
    'a file is handed over in %s',
    async (language, words) => {
      const page = await site.visitor({ locale: language })
      await page.goto(site.base)
      await choose(page, picked('a.key'), words['file.choose'])
      await press(page, words['file.remove'])
      await choose(page, picked('a.key'), words['file.choose'])
      await press(page, words['create.submit'])
      const link = await page.getByLabel(words['sealed.link']).inputValue()
      await page.goto('about:blank')
      await page.goto(link)
      await press(page, words['open.steps'])
      await page.clock.fastForward(600)
      await press(page, words['open.confirm'])
      await expectTitle(page, words['shown.title'])
      await expectText(page, words['shown.fileHint'])
      expect(new Uint8Array((await save(page, words['shown.save'])).content)).toEqual(everyByte)
    },
  )
})
