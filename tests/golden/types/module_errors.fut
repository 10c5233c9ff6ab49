module type wanted = {
  type t
  val f : t -> i32
}

module missing_value : wanted = {
  type t = i32
}

module missing_type : wanted = {
  def f (x: i32) = x
}

module wrong_value : wanted = {
  type t = f32
  def f (x: t) = x
}

module fine : wanted = {
  type t = bool
  def f (x: t) = i32.bool x
}

def looks_inside = fine.f true

def unknown_member = fine.g

def not_applied = fine.nothing.x

module parametric (p: wanted) = {
  def g (x: p.t) = p.f x + 1
  def wrong (x: p.t) = x + 1
}

module refused = parametric {
  type t = i32
}

module not_parametric = fine fine

module twice = {
  def a = 1i32
  def a = 2i32
}

module type anonymous = {
  val f : []i32 -> i32
}

module unrefined : wanted with u = i32 = {
  type t = i32
  def f (x: t) = x
}

open parametric

type hides = []i32
type function = i32 -> i32
type unused [n] = i32

module inside = {
  entry e (x: i32) = x
}

import "no/such/file"
