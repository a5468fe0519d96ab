/**
 * The polyfill that @simplewebauthn's certificate library asks for while it loads. Import this before it: in an
 * executable Bun runs a CommonJS import after the ES modules beside it, so that the library's own import comes too late
 * (bun 1.4.5).
 */
import "reflect-metadata";
