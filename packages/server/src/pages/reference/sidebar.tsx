import type { Api } from './api.ts'
import { Method } from './operation-article.tsx'

export function Sidebar({ api: { groups, schemas } }: { api: Api }) {
  return (
    <nav class="sidebar" aria-label="Contents">
      <div class="filter" hidden>
        <label for="filter">Filter</label>
        <input
          id="filter"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="Filter"
        />
        <p class="filter-none" role="status"></p>
      </div>
      {groups.map(({ name, anchor, operations }) => (
        <div class="sidebar-group">
          <a class="sidebar-title" href={`#${anchor}`}>
            {name}
          </a>
          <ul>
            {operations.map((operation) => (
              <li>
                <a href={`#${operation.anchor}`}>
                  <span>{operation.summary ?? operation.path}</span>{' '}
                  <Method method={operation.method} />
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {schemas.length === 0 ? null : (
        <div class="sidebar-group">
          <a class="sidebar-title" href="#schemas">
            Schemas
          </a>
          <ul>
            {schemas.map(({ name, anchor }) => (
              <li>
                <a href={`#${anchor}`}>
                  <span>{name}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      )}
    </nav>
  )
}
