import { pagePolicy } from '@strongroom/kit/http/content-security-policy'
import type { AppEnv } from '@strongroom/kit/http/env'
import { publicRoute } from '@strongroom/kit/http/permissions'
import { type Context, Hono } from 'hono'
import {
  type Asset,
  assets,
  faviconFile,
  type Content,
  createContent,
  send,
  renderPage,
} from './content.ts'
import { DocsPage, type ReferencePage } from './docs.tsx'
import { guideRoutes } from './guides/routes.tsx'
import { HomePage, type HomeProps } from './home.tsx'
import { documentOfService } from './reference/service-document.ts'

export interface PageRoutesOptions {
  /** Called for each request: the page shows the current state, and more to operators. */
  home: (c: Context<AppEnv>) => HomeProps | Promise<HomeProps>
  /** The services with a page of the reference each, besides the server's own. */
  services?: readonly { name: string; title: string }[]
  /** The OpenAPI document; the same object as long as nothing has changed. */
  document: () => object
}

const homePolicy = pagePolicy({ styles: ["'self'"], images: ["'self'"] })
const docsPolicy = pagePolicy({ scripts: ["'self'"], styles: ["'self'"], images: ["'self'"] })

const DAY_SECONDS = 24 * 60 * 60

const SERVER = { name: 'server', title: 'Server' }

export function pageRoutes({ home, document, services = [] }: PageRoutesOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const documented = [...services, ...(services.length > 0 ? [SERVER] : [])]
  const referencePages = (current: string): ReferencePage[] =>
    documented.length === 0
      ? []
      : [{ name: '', title: 'All' }, ...documented].map(({ name, title }) => ({
          title,
          href: name === '' ? '/docs' : `/docs/${name}`,
          isCurrent: name === current,
        }))
  const files = new Map(assets.map((asset) => [asset.path, { ...asset, ...createContent(asset) }]))
  const docs = renderOnce('text/html; charset=UTF-8', (of) =>
    renderPage(<DocsPage document={of} pages={referencePages('')} />),
  )
  const openApi = renderOnce('application/json', async (of) => JSON.stringify(of))

  app.get('/', publicRoute, async (c) => {
    const props = await home(c)
    c.header('content-security-policy', homePolicy)
    c.header('cache-control', 'no-store')
    return c.html(await renderPage(<HomePage {...props} />))
  })

  app.get('/docs', publicRoute, async (c) => {
    c.header('content-security-policy', docsPolicy)
    c.header('cache-control', 'no-cache')
    return send(c, await docs(document()))
  })

  app.get('/openapi.json', publicRoute, async (c) => {
    c.header('cache-control', 'no-cache')
    return send(c, await openApi(document()))
  })

  for (const { name, title } of documented) {
    const reference = renderOnce('text/html; charset=UTF-8', (of) =>
      renderPage(<DocsPage document={documentOfService(of, title)} pages={referencePages(name)} />),
    )
    app.get(`/docs/${name}`, publicRoute, async (c) => {
      c.header('content-security-policy', docsPolicy)
      c.header('cache-control', 'no-cache')
      return send(c, await reference(document()))
    })
  }
  app.route('/', guideRoutes())

  app.get('/docs/', publicRoute, (c) => c.redirect('/docs', 301))

  const file = (c: Context<AppEnv>) => {
    const found = files.get(c.req.path)
    return found ? serve(c, found) : c.notFound()
  }
  app.get('/assets/:file', publicRoute, file)
  app.get(faviconFile.path, publicRoute, file)
  // For clients that do not read the page; browsers accept the SVG.
  app.get('/favicon.ico', publicRoute, (c) => {
    c.header('cache-control', `public, max-age=${DAY_SECONDS}`)
    return c.redirect(faviconFile.path, 301)
  })
  return app
}

function serve(c: Context<AppEnv>, file: Asset & Content) {
  c.header(
    'cache-control',
    file.immutable ? 'public, max-age=31536000, immutable' : `public, max-age=${DAY_SECONDS}`,
  )
  return send(c, file)
}

/** Rendering a large document takes time, and it changes only when the server starts. */
function renderOnce(contentType: string, write: (of: object) => Promise<string>) {
  let last: { of: object; content: Content } | undefined
  return async (of: object): Promise<Content> => {
    if (last?.of === of) return last.content
    const content = createContent({ contentType, body: await write(of) })
    last = { of, content }
    return content
  }
}
