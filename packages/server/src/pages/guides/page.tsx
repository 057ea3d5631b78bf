/** A guide as a page, with the list of guides beside it, and the list as a page of its own. */
import { safeHref } from '../content.ts'
import { Layout } from '../layout.tsx'
import { type Guide, guideGroups, guideImageNames, guides } from './list.ts'
import { type Heading, renderMarkdown } from './markdown.tsx'

const BASE = '/docs/guides'

export function GuidePage(props: { guide: Guide; text: string; version: string }) {
  const { guide, text, version } = props
  const { headings, content } = renderMarkdown(text, { resolveLink, resolveImage })
  return (
    <Layout
      title={`${guide.title} · Strongroom`}
      description={guide.summary}
      page="guides"
      version={version}
    >
      <div class="docs">
        <GuideList current={guide.name} headings={headings} />
        <main id="content" class="guide">
          {content}
        </main>
      </div>
    </Layout>
  )
}

export function GuideIndexPage({ version }: { version: string }) {
  return (
    <Layout
      title="Guides · Strongroom"
      description="How to use, run and understand Strongroom"
      page="guides"
      version={version}
    >
      <main id="content" class="home">
        <h1>Guides</h1>
        <GuideCards />
      </main>
    </Layout>
  )
}

function GuideCards() {
  return (
    <>
      {guideGroups.map((group) => (
        <section class="block" aria-label={group.title}>
          <div class="block-head">
            <h2>{group.title}</h2>
          </div>
          <ul class="endpoints">
            {group.guides.map(({ name, title, summary }) => (
              <li>
                <a href={`${BASE}/${name}`}>
                  <span class="endpoint-name">{title}</span>{' '}
                  <span class="endpoint-text">{summary}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

function GuideList({ current, headings }: { current: string; headings: readonly Heading[] }) {
  const parts = headings.filter(({ level }) => level === 2)
  return (
    <nav class="sidebar" aria-label="Guides">
      {guideGroups.map((group) => (
        <div class="sidebar-group">
          <a class="sidebar-title" href={BASE}>
            {group.title}
          </a>
          <ul>
            {group.guides.map(({ name, title }) => (
              <li>
                <a href={`${BASE}/${name}`} aria-current={name === current ? 'page' : undefined}>
                  <span>{title}</span>
                </a>
                {name === current && parts.length > 1 && (
                  <ul class="guide-parts">
                    {parts.map(({ id, text }) => (
                      <li>
                        <a href={`#${id}`}>
                          <span>{text}</span>
                        </a>
                      </li>
                    ))}
                  </ul>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

/** Links between guides stay here; files of the repository have no place on a server. */
function resolveLink(address: string): string | undefined {
  if (address.startsWith('#') || /^https?:/.test(address)) return safeHref(address)
  const [, name, fragment = ''] = /^(?:\.\/)?([a-z-]+)\.md(#[\w-]+)?$/.exec(address) ?? []
  return guides.some((guide) => guide.name === name) ? `${BASE}/${name}${fragment}` : undefined
}

function resolveImage(address: string): string | undefined {
  const name = address.replace(/^images\//, '')
  return guideImageNames.includes(name) ? `${BASE}/images/${name}` : undefined
}
