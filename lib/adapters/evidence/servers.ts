// How a tool server is reached. These are the shapes of the configuration; who reads it is not known here.

/** A server that is started as a process of its own. */
export interface StdioServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What its environment has beside `PATH` and `HOME`. */
  readonly env: { readonly [name: string]: string };
}

/** A server behind a URL. */
export interface HttpServer {
  readonly name: string;
  readonly url: string;
  /** Headers of every request; they may hold a secret. */
  readonly headers: { readonly [name: string]: string };
  /** Whether its name may lead to an address that is not public. */
  readonly privateNetwork: boolean;
}

/** A tool server. */
export type ToolServer = StdioServer | HttpServer;
