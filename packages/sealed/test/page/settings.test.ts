import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from '@strongroom/kit/config'
import { findChromium, launch } from '@strongroom/kit/testing/chromium'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sealedSettings, secretOptions } from '../../src/settings.ts'
import { openDb, startApp } from '../support/sealed-app.ts'
import { createSecret, issueToken, postSecret } from '../support/sealed-client.ts'
import { startPageServer } from './page-server.ts'

const HOSTILE = '"><script>alert(1)</script>'
const SVG = `<?xml version="1.0"?><!-- a > b --><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 4"><script>document.title = 'run'</script><rect width="8" height="4" fill="#c00"/></svg>`
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

async function fileWith(content: string | Uint8Array): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-logo-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'logo')
  await writeFile(path, content)
  return path
}

const optionsOf = (env: Record<string, string>) =>
  secretOptions(defineConfig(sealedSettings).parse(env))

describe.each(serviceStores().slice(0, 1))('the settings of Sealed', (store) => {
  const opened = openDb(store)
  const page = async (env: Record<string, string>) => {
    const app = await startApp(opened.db, { env })
    return { app, html: await (await app.request('/')).text() }
  }

  test('lower the maxima, which the API enforces by name, and move the defaults', async () => {
    const env = {
      SEALED_MAX_EXPIRY_MINUTES: '60',
      SEALED_MAX_VIEWS: '2',
      SEALED_DEFAULT_VIEWS: '2',
    }
    const app = await startApp(opened.db, { env })
    const options = { defaultTtlSeconds: 3600, maxTtlSeconds: 3600, defaultViews: 2, maxViews: 2 }
    expect(await issueToken(app)).toMatchObject({ options })
    const { body } = await createSecret(app, { ttlSeconds: 3600, maxViews: 2 })
    const { token } = await issueToken(app)
    const refused = await postSecret(app, token, { ...body, ttlSeconds: 3601, maxViews: 3 })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'sealed.invalid_request',
        details: [
          { path: 'body.ttlSeconds', message: 'Must be at most 3600, the maximum of this server' },
          { path: 'body.maxViews', message: 'Must be at most 2, the maximum of this server' },
        ],
      },
    })
    // The token was not used.
    expect((await postSecret(app, token, body)).status).toBe(201)
  })

  test('are by default those of the specification', () => {
    expect(optionsOf({})).toEqual({
      defaultTtlSeconds: 86_400,
      maxTtlSeconds: 7_776_000,
      defaultViews: 1,
      maxViews: 5,
    })
  })

  test.each([
    [{ SEALED_MAX_VIEWS: '6' }, 'SEALED_MAX_VIEWS must be a whole number from 1 to 5'],
    [
      { SEALED_MAX_EXPIRY_MINUTES: '129601' },
      'SEALED_MAX_EXPIRY_MINUTES must be a whole number from 15 to 129600',
    ],
    [
      { SEALED_MAX_EXPIRY_MINUTES: '60', SEALED_DEFAULT_EXPIRY_MINUTES: '61' },
      'SEALED_DEFAULT_EXPIRY_MINUTES must be at most SEALED_MAX_EXPIRY_MINUTES',
    ],
    [
      { SEALED_MAX_VIEWS: '2', SEALED_DEFAULT_VIEWS: '3' },
      'SEALED_DEFAULT_VIEWS must be at most SEALED_MAX_VIEWS',
    ],
    [{ SEALED_NAME: 'x'.repeat(41) }, 'SEALED_NAME must be 1 to 40 characters'],
    [{ SEALED_NAME: 'a\nb' }, 'SEALED_NAME must be 1 to 40 characters'],
  ])('that contradict the limits or each other are refused: %s', (env, message) => {
    expect(() => optionsOf(env)).toThrow(message)
  })

  test('name the page, and no name becomes markup', async () => {
    const { html } = await page({ SEALED_NAME: HOSTILE })
    expect(html).not.toContain('<script>alert')
    expect(html).toContain('<title>&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>')
    expect(html.match(/<script/g)).toHaveLength(1)
  })

  test.each([
    ['SVG', SVG, 'image/svg+xml', 'svg'],
    ['PNG', PNG, 'image/png', 'png'],
  ])(
    'show a logo that is an %s, as an image from the own origin only',
    async (_, content, type, extension) => {
      const { app, html } = await page({ SEALED_LOGO: await fileWith(content) })
      const [, address = ''] = /<img class="logo" src="([^"]*)" alt=""\/?>/.exec(html) ?? []
      expect(address).toMatch(new RegExp(`^assets/logo-[0-9a-f]{16}\\.${extension}$`))
      expect(html).not.toContain('class="mark"')
      expect(html).not.toContain('<rect')
      const answer = await app.request(`/${address}`)
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(content))
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': type,
        'x-content-type-options': 'nosniff',
        'cache-control': 'public, max-age=31536000, immutable',
        // Whoever opens it alone sees an image whose scripts do not run.
        'content-security-policy': expect.stringContaining("default-src 'none'") as string,
      })
    },
  )

  test('refuse a logo that is missing, a directory, too large or no image', async () => {
    const large = await fileWith(Buffer.concat([PNG, Buffer.alloc(256 * 1024)]))
    const cases: [string, string][] = [
      ['/nonexistent/logo.svg', 'SEALED_LOGO cannot be read (ENOENT): check its path'],
      [tmpdir(), 'SEALED_LOGO is not a file'],
      [large, `SEALED_LOGO has ${PNG.length + 256 * 1024} bytes: use a file of at most 262144`],
      [
        await fileWith('<html><svg></svg></html>'),
        'SEALED_LOGO is neither an SVG in UTF-8 nor a PNG',
      ],
      [
        await fileWith(Uint8Array.of(0xff, 0xd8)),
        'SEALED_LOGO is neither an SVG in UTF-8 nor a PNG',
      ],
      [await fileWith(''), 'SEALED_LOGO is neither an SVG in UTF-8 nor a PNG'],
    ]
    for (const [path, message] of cases)
      await expect(startApp(opened.db, { env: { SEALED_LOGO: path } })).rejects.toThrow(message)
  })
})

const chromium = await findChromium()

test.skipIf(!chromium)(
  'the form offers only what the settings allow, under the name and logo of the operator',
  async () => {
    const server = await startPageServer({
      env: {
        SEALED_NAME: HOSTILE,
        SEALED_LOGO: await fileWith(SVG),
        SEALED_MAX_EXPIRY_MINUTES: '2160',
        SEALED_DEFAULT_EXPIRY_MINUTES: '120',
        SEALED_MAX_VIEWS: '2',
        SEALED_DEFAULT_VIEWS: '2',
      },
    })
    onTestFinished(server.close)
    if (!chromium) return
    const browser = await launch(chromium)
    onTestFinished(() => browser.close())
    const visitor = await browser.newPage({ locale: 'en-GB' })
    const complaints: string[] = []
    visitor.on('console', (message) => complaints.push(message.text()))
    visitor.on('dialog', (dialog) => complaints.push(dialog.message()))
    await visitor.goto(server.base)
    expect(await visitor.locator('.chip').allTextContents()).toEqual([
      '15 minutes',
      '1 hour',
      '2 hours',
      '1 day',
      '36 hours',
      'Other…',
      '1',
      '2',
    ])
    const chosen = visitor.locator('.chip', { has: visitor.locator(':checked') })
    expect(await chosen.allTextContents()).toEqual(['2 hours', '2'])
    expect(await visitor.title()).toBe(`Hand over a secret, once · ${HOSTILE}`)
    expect(await visitor.locator('#home').textContent()).toBe(HOSTILE)
    const drawn = await visitor.locator('img.logo').evaluate((logo: HTMLImageElement) => ({
      isLoaded: logo.complete && logo.naturalWidth > 0,
      height: logo.getBoundingClientRect().height,
    }))
    expect(drawn).toEqual({ isLoaded: true, height: 28 })
    await visitor.getByLabel('Your secret').fill('x')
    await visitor.getByRole('radio', { name: 'Other…' }).check()
    await visitor.getByLabel('Duration').fill('2')
    await visitor.getByRole('button', { name: 'Seal it' }).click()
    await visitor.getByText('Choose between 15 minutes and 36 hours').waitFor()
    await visitor.getByRole('radio', { name: '2 hours' }).check()
    await visitor.getByRole('button', { name: 'Seal it' }).click()
    await visitor
      .getByText(/^It can be opened 2 times, until/)
      .first()
      .waitFor()
    expect(complaints).toEqual([])
  },
)
