import { expect, onTestFinished, test } from 'vitest'
import { describeInBrowser, SLOW } from './browser.ts'
import { isAvailable, openInNode, sealInNode, wrongProofs } from './node-client.ts'
import { startPageServer } from './page-server.ts'
import {
  expectText,
  expectTitle,
  hold,
  open,
  passphraseField,
  press,
  seal,
  shownSecret,
} from './steps.ts'

const TEXT = '  spaces at both ends,\ttabs,\n\nempty lines, “quotes”, 日本語 and 🔑\n'

describeInBrowser('handing over a secret', (site) => {
  test('what one person seals another one opens, to the last space, and nobody after that', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT)
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe(TEXT)
    await expectText(reader, 'It cannot be opened again.')
    expect(await isAvailable(link)).toBe(false)
  })

  test('with a passphrase, a wrong one costs a try and no view', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT, { passphrase: 'two words' })
    const reader = await site.visitor()
    await open(reader, link, 'two worlds')
    await expectText(reader, 'This passphrase is not right. 9 tries are left.')
    expect(await passphraseField(reader).evaluate((field) => field.matches(':focus'))).toBe(true)
    await passphraseField(reader).fill('two words')
    await hold(reader)
    expect(await shownSecret(reader)).toBe(TEXT)
  })

  test.runIf(SLOW)(
    'the last wrong passphrase destroys the secret, and the reader is told',
    async () => {
      const { link } = await sealInNode(site.base, TEXT, { passphrase: 'right' })
      await wrongProofs(link, 9)
      const reader = await site.visitor()
      await open(reader, link, 'wrong')
      await expectText(
        reader,
        'That was the last try: the secret is destroyed. Ask the sender for a new link.',
      )
    },
  )

  test.runIf(SLOW)('as many views as were allowed can be taken', async () => {
    const { link } = await sealInNode(site.base, TEXT, { views: 2 })
    const reader = await site.visitor()
    await open(reader, link)
    await expectText(reader, 'It can be opened once more.')
    expect(await isAvailable(link)).toBe(true)
    expect(await isAvailable(link)).toBe(false)
  })

  test.runIf(SLOW)(
    'a link without its key asks for it, and for nothing less than all of it',
    async () => {
      const { link } = await sealInNode(site.base, TEXT)
      const [address = '', key = ''] = link.split(/:(?=[^:]*$)/)
      const reader = await site.visitor()
      await reader.goto(address)
      const field = reader.getByLabel('Key', { exact: true })
      await field.fill(key.slice(0, -1))
      await press(reader, 'Open in two steps instead')
      await expectText(
        reader,
        'This is not the whole key: copy it again, from the first to the last character',
      )
      await field.fill(` ${key} `)
      await hold(reader)
      expect(await shownSecret(reader)).toBe(TEXT)
    },
  )

  test.runIf(SLOW)('a link and a key that were handed over separately are one', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT)
    await sender.locator('summary', { hasText: 'Link and key separately' }).click()
    const address = await sender.getByLabel('Link without key').inputValue()
    const key = await sender.getByLabel('Key', { exact: true }).inputValue()
    expect(`${address}:${key}`).toBe(link)
  })

  test('what its sender destroys nobody opens', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT)
    await press(sender, 'Destroy it now')
    await press(sender, 'Destroy')
    await expectTitle(sender, 'Destroyed.')
    expect(await isAvailable(link)).toBe(false)
  })

  test('the management link tells whether the secret was opened, and destroys it', async () => {
    const { link, management } = await sealInNode(site.base, TEXT, { receipt: true, views: 2 })
    const manager = await site.visitor()
    await manager.goto(management)
    await expectText(manager, 'Not opened yet')
    expect(manager.url()).toBe(site.base)
    await openInNode(link)
    await press(manager, 'Look again')
    await expectText(manager, 'Opened on 1 January 2100 at 00:00')
    await press(manager, 'Destroy it now')
    await press(manager, 'Destroy')
    await expectTitle(manager, 'Destroyed.')
    expect(await isAvailable(link)).toBe(false)
  })

  test.runIf(SLOW)('a secret without a receipt has nothing to tell', async () => {
    const { management } = await sealInNode(site.base, TEXT)
    const manager = await site.visitor()
    await manager.goto(management)
    await expectText(manager, 'There is no receipt: none was asked for, or its time is over')
  })

  test.runIf(SLOW)(
    'what the command line seals with a passphrase the page opens, however it is typed',
    async () => {
      const { link } = await sealInNode(site.base, TEXT, { passphrase: 'größe' })
      const reader = await site.visitor()
      // As another keyboard writes it, in more code points.
      await open(reader, link, 'größe'.normalize('NFD'))
      expect(await shownSecret(reader)).toBe(TEXT)
    },
  )

  test.runIf(SLOW)('what the page seals the command line opens', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT, { passphrase: 'größe' })
    expect(await openInNode(link, 'größe')).toBe(TEXT)
  })

  test.runIf(SLOW)('expired, opened and never there look the same', async () => {
    const expired = await sealInNode(site.base, TEXT)
    site.clock.advance({ hours: 1 })
    const opened = await sealInNode(site.base, TEXT)
    await openInNode(opened.link)
    const never = opened.link.replace(/#.{22}/, `#${'A'.repeat(22)}`)
    const reader = await site.visitor()
    const seen = new Set<string>()
    for (const link of [expired.link, opened.link, never]) {
      await open(reader, link)
      await expectTitle(reader, 'Not available.')
      seen.add(await reader.locator('body').innerText())
    }
    expect(seen.size).toBe(1)
  })

  test.runIf(SLOW)('alone at the root, the page makes and opens secrets there', async () => {
    const alone = await startPageServer({ at: '/' })
    onTestFinished(() => alone.close())
    const page = await site.visitor()
    await page.goto(alone.base)
    const { link } = await seal(page, TEXT)
    expect(new URL(link).pathname).toBe('/')
    await open(page, link)
    expect(await shownSecret(page)).toBe(TEXT)
  })
})
