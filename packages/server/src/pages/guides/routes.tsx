/** `/docs/guides`: the manuals of this version, rendered once. */
import { pagePolicy } from '@strongroom/kit/http/content-security-policy'
import type { AppEnv } from '@strongroom/kit/http/env'
import { publicRoute } from '@strongroom/kit/http/permissions'
import { Hono } from 'hono'
import { version } from '../../version.ts'
import { type Content, createContent, renderPage, send } from '../content.ts'
import { guides } from './list.ts'
import { GuideIndexPage, GuidePage } from './page.tsx'

const policy = pagePolicy({ styles: ["'self'"], images: ["'self'"] })
/** An image is a document of its own when it is opened by its address. */
const imagePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

export function guideRoutes(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const rendered = new Map<string, Promise<Content>>()

  async function render(name: string): Promise<Content> {
    const guide = guides.find((each) => each.name === name)
    const body = guide
      ? await renderPage(<GuidePage guide={guide} text={await textOf(name)} version={version} />)
      : await renderPage(<GuideIndexPage version={version} />)
    return createContent({ contentType: 'text/html; charset=UTF-8', body })
  }

  /** The empty name is the list. */
  function contentOf(name: string): Promise<Content> {
    let content = rendered.get(name)
    if (!content) {
      content = render(name)
      rendered.set(name, content)
      content.catch(() => rendered.delete(name))
    }
    return content
  }

  app.get('/docs/guides', publicRoute, async (c) => {
    c.header('content-security-policy', policy)
    c.header('cache-control', 'no-cache')
    return send(c, await contentOf(''))
  })

  app.get('/docs/guides/:name', publicRoute, async (c) => {
    const name = c.req.param('name')
    if (!guides.some((guide) => guide.name === name)) return c.notFound()
    c.header('content-security-policy', policy)
    c.header('cache-control', 'no-cache')
    return send(c, await contentOf(name))
  })

  app.get('/docs/guides/images/:file', publicRoute, async (c) => {
    const { guideImages } = await import('./texts.ts')
    const file = c.req.param('file')
    const body = Object.hasOwn(guideImages, file) ? guideImages[file] : undefined
    if (body === undefined) return c.notFound()
    c.header('content-security-policy', imagePolicy)
    c.header('cache-control', 'no-cache')
    return send(c, createContent({ contentType: 'image/svg+xml', body }))
  })
  return app
}

async function textOf(name: string): Promise<string> {
  const { guideTexts } = await import('./texts.ts')
  return guideTexts[name] ?? ''
}
