/** A page that fails shows why it is empty, and the navigation stays usable. */
import { Component, type ComponentChildren } from 'preact'
import { Empty } from '../parts/states.tsx'

export class ErrorBoundary extends Component<{ children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false }

  static override getDerivedStateFromError() {
    return { failed: true }
  }

  override componentDidCatch(error: unknown): void {
    console.error(error)
  }

  override render() {
    if (!this.state.failed) return this.props.children
    return (
      <main id="main">
        <Empty
          glyph="failed"
          title="This page failed"
          actions={
            <button class="button button-primary" type="button" onClick={() => location.reload()}>
              <span>Reload</span>
            </button>
          }
        >
          An error in the console, not in your data. Reload the page; if it happens again, report
          it.
        </Empty>
      </main>
    )
  }
}
